"""What notebook 06 calls: metrics of fluency against people, and one number for everything.

Perplexity asks how expected a text is.  Fluent texts are expected, but so are short and common
ones, and a rewrite into a rare style is not.  Length and the source's own perplexity stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..combine import Settings, overall_scores
from ..data import Dataset
from ..schema import TstmetaError
from . import html
from .analysis import analyse
from .bench import Bench
from .certainty import Analyses
from .chapters import allowed, present
from .hybrids import chosen
from .tables import scored

#: Data sets with ratings of fluency.
RATED = ("lai@pauli2025", "alva@asset", "lens@simpda_2022")
#: What an overall score is made of here, unless others are asked for.
STYLE = ("style-confidence", "style-emd", "style-kl", "style-js")
CONTENT = ("bleu", "rougeL", "meteor", "cosine")
FLUENCY = ("perplexity",)
#: Released scores of which less is better.
RELEASED_LOWER = ("released:gpt2_ppl", "released:source-gpt2_ppl")
#: A ratio beyond this says no more than that it is huge.
HUGE = 1_000_000
OVERALL = {"existing": "Existing", "ours1": "Ours1", "ours2": "Ours2"}
_NOTHING = Markdown("*Nothing to compare: no data with ratings of fluency is on the machine.*")


class Fluency:
    """The chapter for the parameters of its notebook.

    Attributes:
        metrics: metrics of fluency that are shown.
        all, rated: data sets asked for, and those of them with ratings of fluency.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        *,
        statistic: str = "pearson",
        draws: int = 500,
        seed: int = 0,
        profile: str = "embedded",
    ):
        self.bench, self.statistic = bench, statistic
        self.draws, self.seed = draws, seed
        self.metrics = allowed(metrics, profile)
        self.all = present(bench, RATED) if dataset == "auto" else [bench.dataset(dataset)]
        self.rated = [one for one in self.all if "fluency" in one.dimensions]

    def scores(self, data: Dataset) -> pd.DataFrame:
        """Metrics of fluency, released ones among them, and sentinels."""
        released = data.scores[data.scores["dimension"] == "fluency"]
        own = self.bench.table(data, self.metrics, ["none"])
        sentinels = self.bench.table(data, ["sentinel"], ["source", "none"])
        parts = [one for one in (own, released, sentinels) if len(one)]
        return pd.concat(parts, ignore_index=True)

    def analyses(self) -> Analyses:
        """Every metric against fluency, one analysis a data set."""
        found = Analyses()
        for data in self.rated:
            scores = self.scores(data)
            less = [one for one in RELEASED_LOWER if one in set(scores["metric"])]
            try:
                one = analyse(
                    data,
                    scores,
                    dimension="fluency",
                    statistic=self.statistic,
                    draws=self.draws,
                    seed=self.seed,
                    lower=less,
                )
            except TstmetaError as reason:
                found.left_out[data.name] = str(reason)
                continue
            found.append(one)
        return found

    # --------------------------------------------------------------------------- outliers

    def scales(self) -> html.Html | Markdown:
        """Perplexity as it is, its logarithm and its ranks, against people.

        A metric may be turned any way that keeps its order.  Ranks do not see it; Pearson's r does.
        """
        rows = []
        for data in self.rated:
            human = data.means["fluency"].to_numpy(float)
            for one in scored(data, self.scores(data)):
                if "perplexity" not in one.name and "ppl" not in one.name:
                    continue
                values = np.where(one.vector > 0, one.vector, np.nan)
                pearson, ranks = stats.STATISTICS["pearson"], stats.STATISTICS["spearman"]
                top = float(np.nanmax(values) / np.nanmedian(values))
                rows.append(
                    {
                        "data set": data.name,
                        "metric": one.name,
                        "largest over median": f"{top:,.0f}" if top < HUGE else f"> {HUGE:,}",
                        "r of −perplexity": html.signed(pearson(human, -values).value),
                        "r of −log perplexity": html.signed(pearson(human, -np.log(values)).value),
                        "Spearman's rho": html.signed(ranks(human, -values).value),
                        "n": f"{ranks(human, -values).n:,}",
                    }
                )
        return html.table(pd.DataFrame(rows)) if rows else _NOTHING

    # ---------------------------------------------------------------------------- overall

    def overall(self, settings: Settings | None = None) -> html.Html | Markdown:
        """Overall scores against each human dimension and against people's own overall mean.

        People's overall is the geometric mean of their three ratings, each brought to (0, 1], as
        the paper makes it.  Fitted on other sources than it scores.
        """
        settings = settings or Settings(seed=self.seed)
        wanted = allowed([*STYLE, *CONTENT, *FLUENCY], "embedded")
        rows, taken, reasons = [], [], []
        for data in self.rated:
            three = ["style", "content", "fluency"]
            if not set(three) <= set(data.dimensions):
                continue
            table = self.bench.table(data, wanted, ["source", "none"])
            people = {name: data.means[name].to_numpy(float) for name in three}
            people["all three"] = together(data, people)
            for which, title in OVERALL.items():
                try:
                    made = overall_scores(data, table, which, settings)  # type: ignore[arg-type]
                except TstmetaError as reason:
                    reasons.append(f"{data.name}, {title}: {reason}")
                    continue
                own = made.scores.set_index("item_id")["value"]
                values = own.reindex(data.items["item_id"]).to_numpy(float)
                line = {"data set": data.name, "score": title}
                for name, human in people.items():
                    found = stats.STATISTICS[self.statistic](human, values)
                    line[name] = html.signed(found.value)
                rows.append(line | {"n": f"{int(np.isfinite(values).sum()):,}"})
                taken.append({"data set": data.name, "score": title, "made of": chosen(made)})
        if not rows:
            return Markdown("\n".join(f"- {one}" for one in reasons)) if reasons else _NOTHING
        label = stats.STATISTICS[self.statistic].label
        made_of = html.table(pd.DataFrame(taken), caption="metrics and mean weights over folds")
        shown = html.table(pd.DataFrame(rows), caption=f"{label} with each rating of people")
        return html.Html(shown.text + html.folded("What they are made of", made_of.text))


def together(data: Dataset, people: dict[str, np.ndarray]) -> np.ndarray:
    """Geometric mean of people's ratings, each as a share of its scale; 0 where one is lowest."""
    parts = []
    for name, values in people.items():
        low, high = data.card.scale.get(name, (np.nanmin(values), np.nanmax(values)))
        parts.append((values - low) / (high - low))
    return np.prod(parts, axis=0) ** (1 / len(parts))
