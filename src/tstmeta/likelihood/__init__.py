"""The zero-shot likelihood scorer of Pauli et al. (2025), Section 3.3.

A rewrite is judged by how well a language model foresees its tokens when it is asked to rewrite the
source in the target style, to paraphrase it, or to repeat it::

    from tstmeta.likelihood import Rewrite, Scorer, load

    scorer = Scorer(load("embedded"))
    judged = scorer.judge([Rewrite("It was bad.", "It was great.", "positive")])
    print([scorer.content(one) for one in judged], [scorer.style(one) for one in judged])

No model library is imported before a model is loaded.
"""

from ..models.loading import load
from .instructions import TASKS, Instructions
from .scorer import Judged, Rewrite, Scorer
from .tokens import VARIANTS, Variant, content, explained_by, style
from .zeroshot import DemonstrationWarning, Likelihood, LikelihoodStyle

__all__ = [
    "TASKS",
    "VARIANTS",
    "DemonstrationWarning",
    "Instructions",
    "Judged",
    "Likelihood",
    "LikelihoodStyle",
    "Rewrite",
    "Scorer",
    "Variant",
    "content",
    "explained_by",
    "load",
    "style",
]
