"""Values and columns that the answers of several operations have."""

from service.curves.indices import INDICES
from service.inference.metric import AREAS_WITH_INTERVALS
from service.wire.answers.parts import ABSENT, AnswerObject, AnswerValue, Cells

TOTAL_VALUES = (
    AnswerValue(
        "positives",
        "The number of positives; with weights, their total weight.",
        lambda found: found.positives,
        kind="count",
    ),
    AnswerValue(
        "negatives",
        "The number of negatives; with weights, their total weight.",
        lambda found: found.negatives,
        kind="count",
    ),
)

PREVALENCE_VALUE = AnswerValue(
    "prevalence",
    "How common positives are where the model is used, if `prevalence` says so; what depends on it is for there.",
    lambda found: ABSENT if found.target is None else found.target,
    sometimes=True,
    kind="exact",
)

CLUSTERS_OBJECT = AnswerObject(
    "clusters",
    "How many clusters there are among the rows of positive weight, if `clusters` says which rows belong together.",
    lambda found: ABSENT if found.clusters is None else found.clusters,
    sometimes=True,
    component="ClusterCounts",
    columns=(
        Cells.whole("count", "All clusters."),
        Cells.whole("with_positives", "Those that have a positive."),
        Cells.whole("with_negatives", "Those that have a negative."),
        Cells.whole("largest", "The rows of the largest."),
    ),
)

DESIGN_EFFECT = Cells.number(
    "design_effect",
    "With clusters, the variance over that of as many independent rows; `null` for `exact`, for resamples, for metrics "
    "that mix both classes at a row or a point, and if clusters show no spread.",
    null=True,
    sometimes=True,
)


AREA_CELLS = (
    Cells.number(
        "roc",
        "The area under the ROC curve, by trapezoids: the probability that a positive scores above a negative, ties "
        "counting one half (the Wilcoxon-Mann-Whitney statistic). `null` if the counts are not a sweep.",
        null=True,
    ),
    Cells.number(
        "roc_hull",
        "The area under the ROC convex hull: what you can reach by choosing among the rows, at random if needed. Never "
        "below `roc`.",
    ),
    Cells.number(
        "pr",
        "The area under the precision-recall curve, interpolated linearly in counts and integrated in closed form. "
        "`null` if the counts are not a sweep.",
        null=True,
    ),
    Cells.number(
        "pr_trapezoid",
        "The same curve by trapezoids through every whole number of true positives, as Davis and Goadrich compute it; "
        "it approaches `pr` as the positives grow. `null` if the counts are not a sweep, not whole, or there are more "
        "than 1e7 positives.",
        null=True,
    ),
    Cells.number(
        "pr_achievable", "The area under the achievable precision-recall curve, that of the ROC hull. Never below `pr`."
    ),
    Cells.number(
        "average_precision",
        "The sum over rows of (gain in recall) times (precision of the row): a step function without interpolation, so "
        "it can be above or below `pr`. `null` if the counts are not a sweep.",
        null=True,
    ),
)

OPERATING_POINTS = (
    Cells.text("metric", "The requested metric."),
    Cells.exact("at", "Where it was read."),
    Cells.number(
        "value",
        "Its value; `null` for `recall_at_precision` if the curve never has this precision, and for a curve of counts "
        "that are not a sweep.",
        null=True,
    ),
    Cells.score(
        "threshold",
        "The row's threshold; `null` at the origin, which calls nothing positive, and where counts have none.",
        null=True,
    ),
    Cells.count("tp", "The row's true positives.", null=True),
    Cells.count("fp", "The row's false positives.", null=True),
    Cells.number(
        "value_lower",
        "With open groups only, the lowest value that it can have; `value` is halfway between. All are `null` if some "
        "order of the examples leaves it without a value.",
        null=True,
        sometimes=True,
    ),
    Cells.number("value_upper", "With open groups only, the highest value.", null=True, sometimes=True),
)

SHARED_AREA_COLUMNS = (
    Cells.number("roc", "The area under the ROC curve.", null=True),
    Cells.number("roc_hull", "The area under the convex hull of the ROC curve.", null=True),
    Cells.number("pr", "The area under the precision-recall curve.", null=True),
    Cells.number("pr_achievable", "The area under the precision-recall curve of the hull.", null=True),
    Cells.number("average_precision", "Average precision.", null=True),
)


def area_ends(of: str) -> tuple[Cells, ...]:
    """Declare the columns of the ends of areas' intervals, which are there if they were asked for."""
    return tuple(
        Cells.number(
            f"{area}_{end}",
            f"If you asked for `intervals`, the {end} end of the interval of `{area}`; `null` if the {of} has none.",
            null=True,
            sometimes=True,
        )
        for area in AREAS_WITH_INTERVALS
        for end in ("lower", "upper")
    )


INDEX_KEY = Cells.text("index", "The index.")
INDEX_NAMES = tuple(INDICES)


def reason_of(part: str) -> Cells:
    """Declare the column that says why a part has no areas."""
    return Cells.text(
        "reason",
        f"Why the {part} has no areas, else `null`: `one_class`, it has no positives or no negatives; "
        "`total_out_of_range`, those of one class weigh less than 1e-150 or more than 1e150.",
        null=True,
    )
