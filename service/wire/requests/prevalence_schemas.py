"""How common positives are where a model will be used: the field, and what it does not go with.

Knows evaluations and fields; nothing of what is computed with a target.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from marshmallow import ValidationError

from service.charts.picture import Pictures
from service.curves.confusion import Evaluation
from service.curves.histogram import Histogram
from service.curves.sample import Sample
from service.curves.target_prevalence import LEAST_PREVALENCE, TargetPrevalence
from service.inference.rules import Rule
from service.wire.requests.fields import Number, invalid
from service.wire.wrong import Wrong

_AnyEvaluation = TypeVar("_AnyEvaluation", Sample, Sample | Histogram, Evaluation)

_OF_THESE_DATA = "This is about these data, where positives are not as common as where the model is used"
_TABLES = ("reliability", "gains")
_METRICS_OF_THESE_DATA = ("ece", "calibration_slope", "calibration_intercept")
_CHARTS = frozenset({"calibration"})


class ShareOfPositives(Number):
    """A prevalence: a number between 0 and 1, but near neither."""

    def read(self, value: object) -> float:
        """Check it."""
        try:
            return super().read(value)
        except Wrong as wrong:
            if wrong.code not in {"out_of_range", "negative"}:
                raise
            told = f"Must be a share of positives between 0 and 1, at least {LEAST_PREVALENCE:g} from either."
            raise Wrong("out_of_range", told) from None


def target_field() -> ShareOfPositives:
    """The field `prevalence` of operations that read precision."""
    return ShareOfPositives(
        "How common positives are where the model will be used, if the data were sampled class by class, as with "
        "undersampled negatives: a number between 0 and 1, at least 1e-9 from either. The rows of each class must be a "
        "random sample of it. Precision and all that depends on it are then for there; `roc`, recall and fpr stay.",
        minimum=LEAST_PREVALENCE,
        maximum=1 - LEAST_PREVALENCE,
        example=0.01,
    )


def at_prevalence(evaluation: _AnyEvaluation, data: Mapping[str, Any]) -> _AnyEvaluation:
    """The evaluation with the target of a request, if there is one."""
    return replace(evaluation, target=TargetPrevalence(data["prevalence"])) if "prevalence" in data else evaluation


def refuse_beside_prevalence(data: Mapping[str, Any], include: Collection[str], charts: Pictures) -> None:
    """Refuse what judges probabilities, or parts of these data, beside a prevalence."""
    if "prevalence" not in data:
        return
    for name in _TABLES:
        if name in data:
            raise invalid("exclusive", f"{_OF_THESE_DATA}: leave out {name} or prevalence.", name)
    if "calibration" in include:
        raise invalid("exclusive", f"{_OF_THESE_DATA}: leave out calibration or prevalence.", "include")
    if any(each.chart in _CHARTS for each in charts):
        raise invalid("exclusive", f"{_OF_THESE_DATA}: leave out calibration or prevalence.", "charts")


def refuse_rules_beside_prevalence(data: Mapping[str, Any], rules: Iterable[Rule]) -> None:
    """Refuse rules on what judges probabilities beside a prevalence."""
    for row, rule in enumerate(rules if "prevalence" in data else ()):
        if rule.metric in _METRICS_OF_THESE_DATA:
            fault = Wrong("exclusive", f"{_OF_THESE_DATA}: leave out {rule.metric} or prevalence.")
            raise ValidationError({"rules": {row: {"metric": [fault]}}})
