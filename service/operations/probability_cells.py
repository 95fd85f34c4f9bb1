"""The columns of what curves say about probabilities and shares: calibration, statistics, bins, gains, net benefit."""

from service.wire.answers.parts import Cells

CALIBRATION = (
    Cells.score(
        "score_from",
        "The lowest score of the pool; of counts the lowest threshold, `null` where it has none.",
        null=True,
    ),
    Cells.score(
        "score_to",
        "The highest score of the pool; of counts the highest threshold, `null` where it has none.",
        null=True,
    ),
    Cells.count("positives", "The positives in the pool; with weights, their total weight."),
    Cells.count("negatives", "The negatives in the pool; with weights, their total weight."),
    Cells.number("calibrated", "The calibrated score, positives / (positives + negatives)."),
)

STATISTICS = (
    Cells.number(
        "ks",
        "The Kolmogorov-Smirnov statistic, the greatest difference between true and false positive rate of a row.",
    ),
    Cells.score(
        "ks_threshold",
        "The threshold of that row, the first of several; `null` if the row calls nothing positive, or if counts give "
        "it none.",
        null=True,
    ),
    Cells.number(
        "prg",
        "The area under the precision-recall-gain curve (Flach and Kull 2015): 0 for chance, 1 for a perfect "
        "curve; it may be negative. `null` if the counts are not a sweep.",
        null=True,
    ),
    Cells.number(
        "brier",
        "The Brier score: the mean squared difference between a score, as the probability of a positive, and "
        "the label 0 or 1. With `lower_is_positive` a score is the probability of a negative.",
        null=True,
    ),
    Cells.number("miscalibration", "How much the Brier score exceeds that of the calibrated scores.", null=True),
    Cells.number(
        "discrimination",
        "How much lower the Brier score of the calibrated scores is than that of always predicting the prevalence.",
        null=True,
    ),
    Cells.number(
        "uncertainty",
        "The Brier score of always predicting the prevalence, prevalence (1 - prevalence).",
        null=True,
    ),
    Cells.number(
        "gini",
        "The Gini coefficient, 2 `roc` - 1, also called accuracy ratio and Somers' D; `null` if the counts are "
        "not a sweep.",
        null=True,
    ),
    Cells.number(
        "eer",
        "The equal error rate: the false positive rate of the ROC curve where it equals the false negative "
        "rate, straight between rows; `null` if the counts are not a sweep.",
        null=True,
    ),
    Cells.score(
        "eer_threshold",
        "The threshold of the row whose two rates are nearest to each other; `null` as `ks_threshold` is.",
        null=True,
    ),
    Cells.number(
        "log_loss",
        "The mean of -ln(the probability that the score gives to what the example is), which is at least "
        "2^-52. Examples that were certain and wrong have the warning `clipped_scores`.",
        null=True,
    ),
    Cells.number(
        "ece",
        "The expected calibration error: the mean distance of the share of positives in a bin from its mean "
        "score, over 15 bins of equal width or those of `reliability`.",
        null=True,
    ),
    Cells.number(
        "ece_if_calibrated",
        "About what `ece` would be on average if every example were positive with the probability that its score "
        "says, by a normal approximation; compare `ece` with it, since a binned error is never 0. `null` if the number "
        "of examples is unknown.",
        null=True,
    ),
    Cells.number(
        "calibration_slope",
        "The slope b of logit P(positive) = a + b logit(score), by maximum likelihood (Cox 1958): 1 is ideal, "
        "below 1 the scores are too extreme. `null` if a score is 0 or 1, or if one class is wholly above the "
        "other.",
        null=True,
    ),
    Cells.number(
        "calibration_intercept",
        "The intercept a of logit P(positive) = a + logit(score), by maximum likelihood: 0 is ideal, below 0 "
        "the scores are too high. `null` if a score is 0 or 1.",
        null=True,
    ),
)

RELIABILITY = (
    Cells.score("score_from", "The lowest score in the bin."),
    Cells.score("score_to", "The highest score in the bin."),
    Cells.count("positives", "The positives in the bin; with weights, their total weight."),
    Cells.count("negatives", "The negatives in the bin; with weights, their total weight."),
    Cells.number(
        "mean_score",
        "The mean score in the bin, as the probability of a positive: with `lower_is_positive`, 1 less it.",
    ),
    Cells.number("observed", "The share of positives, positives / (positives + negatives)."),
    Cells.number(
        "lower",
        "The lower end of the interval of `observed` (Wilson 1927), at the level of `intervals` or 0.95; "
        "`null` if the number of examples is unknown.",
        null=True,
    ),
    Cells.number("upper", "The upper end.", null=True),
)

GAINS = (
    Cells.number("share_from", "Where the part begins, as a share of all examples."),
    Cells.number("share_to", "Where it ends."),
    Cells.score("threshold", "The score at which it ends; `null` where counts have none.", null=True),
    Cells.count("positives", "The positives in the part; a fraction if a tie is split."),
    Cells.count("negatives", "The negatives in the part."),
    Cells.number("precision", "The share of positives in the part, also called response rate."),
    Cells.number("lift", "`precision` of the part divided by the prevalence."),
    Cells.number("cumulative_recall", "Recall of all parts so far, also called capture rate or gain."),
    Cells.number("cumulative_precision", "Precision of all parts so far."),
    Cells.number("cumulative_lift", "`cumulative_precision` divided by the prevalence."),
    Cells.number("cumulative_ks", "True positive rate less false positive rate of all parts so far."),
)

NET_BENEFIT = (
    Cells.exact("threshold", "The probability t from which to act; it makes a false positive weigh t / (1 - t)."),
    Cells.count("tp", "True positives of the row, in these data.", null=True),
    Cells.count("fp", "False positives of the row, in these data.", null=True),
    Cells.number("net_benefit", "π tpr - (1 - π) fpr t / (1 - t), at the prevalence π.", null=True),
    Cells.number("treat_all", "The same if everything is called positive; if nothing is, it is 0."),
    Cells.number("standardized", "`net_benefit` / π: 1 is the most there is.", null=True),
    Cells.number(
        "avoided",
        "How many fewer are acted on than if all were, for the same true positives, per example.",
        null=True,
    ),
    Cells.number(
        "lower",
        "With `intervals`, the lower end of the score interval of `net_benefit`.",
        null=True,
        sometimes=True,
    ),
    Cells.number("upper", "The upper end.", null=True, sometimes=True),
)
