"""Statistics and levels written as loops over items, to hold the vectorised ones against.

An item is ``(identity, human, metric)``; under draws it is there as often as it was drawn, and a
pair of two copies of one item is no pair.
"""

import itertools
import math

import numpy as np

from tstmeta import stats

NAN = math.nan
#: every statistic where it is defined
PLACES = [(name, level) for name in stats.STATISTICS for level in stats.LEVELS]


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed or 0)


def drawn_anew(human, metrics, setting, plan, random):
    """Metrics in new draws of a plan."""
    return stats.resample(human, metrics, setting, plan, stats.draw(plan, np.shape(human), random))


def noisy(seed, shape, noise):
    """Ratings ``[S, K]``, and metrics that see them through so much noise each ``[M, S, K]``."""
    random = rng(seed)
    human = random.normal(size=shape)
    return human, np.stack([human + sd * random.normal(size=shape) for sd in noise])


def moment_sums(x, y):
    """Sums of squares of both sides and of products, about the means."""
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return (
        0.0 if len(set(x)) == 1 else math.fsum((a - mx) ** 2 for a in x),
        0.0 if len(set(y)) == 1 else math.fsum((b - my) ** 2 for b in y),
        math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)),
    )


def pairs(items):
    """Signs of the differences of all pairs of different items."""
    for (i, a, b), (j, c, d) in itertools.combinations(items, 2):
        if i != j:
            yield np.sign(a - c), np.sign(b - d)


def pearson(items):
    return moment_sums([x for _, x, _ in items], [y for _, _, y in items])


def spearman(items):
    sides = ([item[side] for item in items] for side in (1, 2))
    ranks = [[sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x] for x in sides]
    return moment_sums(*ranks)


def kendall(items):
    values = list(pairs(items))
    agreeing = sum(a * b for a, b in values)
    return sum(abs(a) for a, _ in values), sum(abs(b) for _, b in values), agreeing


def accuracy(items):
    values = list(pairs(items))
    return len(values), sum(a == b for a, b in values)


def preference(items):
    """Pairs that people order, and how many the metric orders alike, ties half."""
    values = [a * b for a, b in pairs(items) if a != 0]
    return len(values), sum((1 + value) / 2 for value in values)


def correlation(xx, yy, xy):
    return xy / math.sqrt(xx * yy) if xx > 0 and yy > 0 else NAN


def quotient(below, above):
    return above / below if below else NAN


#: name: parts, finish, fewest items in a group, fewest items as a whole
STATISTICS = {
    "pearson": (pearson, correlation, 3, 3),
    "spearman": (spearman, correlation, 3, 3),
    "kendall": (kendall, correlation, 2, 3),
    "pairwise-accuracy": (accuracy, quotient, 2, 2),
    "accuracy": (preference, quotient, 2, 2),
}


def complete(items):
    return [item for item in items if not any(map(math.isnan, item[1:]))]


def value(name, items):
    """A statistic of items that are all there is."""
    parts, finish, _, least = STATISTICS[name]
    items = complete(items)
    return finish(*parts(items)) if len(items) >= least else NAN


def cells(human, metric, rows, columns):
    """Cells of a table with repeated rows and columns; the copies of a cell are one item."""
    return [((s, k), human[s][k], metric[s][k]) for s in rows for k in columns]


def grouped(name, groups, undefined):
    """A statistic in each group, averaged."""
    parts, finish, least, _ = STATISTICS[name]
    groups = [complete(group) for group in groups]
    values = [finish(*parts(group)) if len(group) >= least else NAN for group in groups]
    values = [undefined if math.isnan(value) else value for value in values]
    values = [value for value in values if not math.isnan(value)]
    return math.fsum(values) / len(values) if values else NAN


def at_level(setting, human, metric, rows=None, columns=None):
    """A statistic of a table ``[S, K]``; of rows and columns that were drawn as listed, or all."""
    name, undefined = setting.statistic, setting.undefined
    rows, columns = rows or range(len(human)), columns or range(len(human[0]))
    if setting.level == "pooled":
        return value(name, cells(human, metric, rows, columns))
    if setting.level == "source":
        return grouped(name, [cells(human, metric, [s], columns) for s in rows], undefined)
    if setting.level == "same-source":
        parts, finish, least, _ = STATISTICS[name]
        groups = [complete(cells(human, metric, [s], columns)) for s in rows]
        sums = [parts(group) for group in groups if len(group) >= least]
        return finish(*map(math.fsum, zip(*sums, strict=True))) if sums else NAN
    if setting.level == "within-system":
        return grouped(name, [cells(human, metric, rows, [k]) for k in columns], undefined)
    if setting.level == "system":
        return value(name, system_means(human, metric, rows, columns))
    by_task = [
        cells(human, metric, [s for s in rows if setting.tasks[s] == task], columns)
        for task in sorted(set(setting.tasks))
    ]
    return value(name, [item for group in by_task for item in standard(group)])


def system_means(human, metric, rows, columns):
    """Means of systems over the cells where both sides have values."""
    values = []
    for k in columns:
        both = complete([(k, human[s][k], metric[s][k]) for s in rows])
        if both:
            means = [math.fsum(item[side] for item in both) / len(both) for side in (1, 2)]
            values.append((k, *(round(mean, 9) for mean in means)))
    return values


def standard(items):
    """Both sides with mean 0 and variance 1; nothing where a side does not vary."""
    items = complete(items)
    if not items:
        return []
    sides = []
    for side in (1, 2):
        values = [item[side] for item in items]
        mean = math.fsum(values) / len(values)
        variance = math.fsum((v - mean) ** 2 for v in values) / len(values)
        if len(set(values)) == 1:
            return []
        sides.append([round((v - mean) / math.sqrt(variance), 9) for v in values])
    return [(item[0], a, b) for item, a, b in zip(items, *sides, strict=True)]


def table(rng, sources=5, systems=4, missing=0.15, metrics=1):
    """A tiny table ``[S, K]`` of ratings and each metric's scores with ties, often with gaps."""
    shape = int(rng.integers(1, sources + 1)), int(rng.integers(1, systems + 1))
    sides = [rng.integers(0, int(rng.integers(2, 5)), shape) / float(rng.choice([1, 3]))]
    for _ in range(metrics):
        if rng.random() < 0.7:
            sides.append(
                rng.integers(0, int(rng.integers(2, 6)), shape) / float(rng.choice([1, 7]))
            )
        else:
            sides.append(rng.normal(size=shape))
    for side in sides:
        if rng.random() < 0.5:
            side[rng.random(shape) < missing] = NAN
    return sides


def ratings(rng, shape=(4, 3, 3), missing=0.25, top=4):
    """A small cube of whole ratings with gaps."""
    cube = rng.integers(1, top, shape).astype(float)
    cube[rng.random(shape) < missing] = NAN
    return cube


def repeated(counts):
    """Counts of draws as a list with repetitions."""
    return [place for place, count in enumerate(counts) for _ in range(int(count))]
