"""Facts about an evaluation that keep it from having an answer.

Each is raised where it is found out, with a sentence about the numbers; none knows codes, pointers or statuses.
`column` and `row` say where, in the words and order of the input, when one place is to blame; `evaluation` is the
number of the one to blame among several, or its name if there is a baseline.
"""


class CurvesError(ValueError):
    """An evaluation that cannot be answered."""

    evaluation: int | str | None = None

    def __init__(self, detail: str, column: str | None = None, row: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.column = column
        self.row = row


class LengthsDiffer(CurvesError):
    """Columns of one table have different lengths."""


class OneClassLabels(CurvesError):
    """All rows (of positive weight) have the same label, so one of the two rates has no denominator."""


class TotalOutOfRange(CurvesError):
    """The positives or negatives weigh so little or so much that products of counts leave the range of a double."""


class ContradictingTotals(CurvesError):
    """Rows of counts disagree about how many positives or negatives there are."""


class RisingThresholds(CurvesError):
    """Thresholds rise while more is called positive, which no sweep over scores can do."""


class TooManyPoints(CurvesError):
    """The interpolation asks for more rows than the limit."""


class NoRowMeets(CurvesError):
    """No row has the precision and the recall that were asked for."""


class TotalsDiffer(CurvesError):
    """Two evaluations that are to be compared are not of the same number of positives and negatives."""


class NotPaired(CurvesError):
    """Two evaluations are not of the same examples, row by row."""
