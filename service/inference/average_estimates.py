"""Averages of several classes, of a model and perhaps its baseline: values, and intervals of areas and of differences.

    an area        roc, pr or average_precision, with its error by rows (row_moves.py)
    of decisions   a metric of predicted classes, of which each average is a number of the confusion matrix
    hand_till      the mean area over all pairs of classes
    overall        a number of the whole confusion matrix

The difference of two averages of the same rows has the moves of the first less a share of the second's, as for single
areas (spread.py). Only areas have intervals. Knows the scores of classes; nothing of verdicts.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from service.curves.class_decisions import ClassDecisionOptions, ClassDecisions, class_decisions
from service.curves.class_scores import ClassScores
from service.curves.classes import AVERAGED_AREAS, AVERAGES, Classes, evaluate_classes
from service.curves.evaluation import CurvesWarning
from service.inference.class_averages import MANY_CLASSES, average_interval, is_biased, too_few
from service.inference.estimates import FOR_ROC, omitted
from service.inference.intervals import (
    Interval,
    IntervalOptions,
    area_difference_ends,
    area_difference_interval,
    difference_interval,
    difference_p_value,
    kept_of,
    mover_ends,
)
from service.inference.metric import ENDS
from service.inference.proportions import Ends, p_value, p_value_by_level
from service.inference.row_moves import RowMoves, jump_of
from service.inference.rules import Rule
from service.inference.spread import Spread

HAND_TILL, OVERALL = "hand_till", "overall"
RULE_AVERAGES = (*AVERAGES, HAND_TILL, OVERALL)
"""What a rule may call its average."""

OVERALL_METRICS = ("accuracy", "balanced_accuracy", "kappa", "mcc", "log_loss")
"""The numbers of the whole confusion matrix; log_loss needs no decision."""


_NOT_AN_AREA = "only macro, weighted and micro averages of areas have one"


class AverageEstimates:
    """The averages of a model or, with a baseline, of both; `paired` if their rows are the same."""

    def __init__(self, models: Sequence[ClassScores], how: IntervalOptions, *, paired: bool = False) -> None:
        self._models = models
        self._how = how
        self._paired = paired
        self._moves: dict[int, RowMoves] = {}
        self._decided: dict[tuple[int, ClassDecisionOptions], ClassDecisions] = {}
        self._warnings: dict[CurvesWarning, None] = {}

    @property
    def warnings(self) -> tuple[CurvesWarning, ...]:
        """Warnings about what was asked for so far."""
        return tuple(self._warnings)

    def value(self, rule: Rule, number: int = 0) -> float | None:
        """The average of the numbered model; None if undefined, or if there is no such model."""
        if number >= len(self._models):
            return None
        value = self._value(rule, number)
        return None if value is None or math.isnan(value) else value

    def _value(self, rule: Rule, number: int) -> float | None:
        metric, average = rule.metric, rule.average or ""
        if average == HAND_TILL:
            return self._found[number].hand_till
        if metric in AVERAGED_AREAS:
            told = self._found[number].warnings
            self._warnings |= dict.fromkeys(each for each in told if each.code != "below_chance")
            return float(getattr(self._found[number].averages, metric)[AVERAGES.index(average)])
        threshold = None if rule.decision is None else rule.decision.at_threshold
        decide = None if threshold is not None else "highest"
        asked = (metric,) if average != OVERALL else ()
        decided = self._decisions(number, ClassDecisionOptions(decide, threshold, asked))
        if average == OVERALL:
            found: float | None = getattr(decided.overall, metric)
            return found
        assert decided.matrices is not None  # noqa: S101  # something is decided
        return float(decided.matrices.averages[metric][AVERAGES.index(average)])

    def _decisions(self, number: int, options: ClassDecisionOptions) -> ClassDecisions:
        asked = number, options
        if asked not in self._decided:
            self._decided[asked] = class_decisions(self._models[number], options)
        return self._decided[asked]

    @cached_property
    def _found(self) -> list[Classes]:
        return [evaluate_classes(each) for each in self._models]

    def _moves_of(self, number: int) -> RowMoves:
        if number not in self._moves:
            self._moves[number] = RowMoves.of(self._models[number], self._found[number])
        return self._moves[number]

    def interval(self, rule: Rule, level: float) -> Interval | None:
        """The interval of an average or, for a bound of the difference, of that; None if it has none."""
        if rule.metric not in AVERAGED_AREAS or rule.average not in AVERAGES:
            self._omit(rule, _NOT_AN_AREA)
            return None
        numbers = (0, 1) if rule.is_change else (0,)
        values = [value for number in numbers if (value := self.value(rule, number)) is not None]
        if len(values) < len(numbers):
            return None
        moves = [self._moves_of(number) for number in numbers]
        few = [each for each in moves if not each.enough]
        if few:
            self._warnings[too_few(few[0])] = None
            return None
        place = AVERAGES.index(rule.average)
        if any(is_biased(rule.metric, place, each) for each in moves):
            self._omit(rule, MANY_CLASSES)
            return None
        found = self._of_difference(rule, place, values, moves, level) if rule.is_change else None
        if not rule.is_change:
            found = self._of_one(rule, place, values[0], moves[0], level)
        if found is None:
            self._omit(rule, FOR_ROC)
        return found

    def p_value(self, rule: Rule) -> float | None:
        """The two-sided p-value of no difference, for a rule whose interval is of that; None if there is no spread."""
        numbers, place = (0, 1), AVERAGES.index(rule.average or "")
        values = [value for number in numbers if (value := self.value(rule, number)) is not None]
        moves = [self._moves_of(number) for number in numbers]
        difference = values[0] - rule.kept * values[1]
        if any(value in ENDS for value in values):

            def ends(level: float) -> Ends:
                found = self._of_difference(rule, place, values, moves, level)
                return (-1.0, 1.0) if found is None else (found.lower, found.upper)

            return p_value_by_level(difference, ends)
        spread = average_spread(rule, place, moves, paired=self._paired)
        if self._how.method == "delong" or spread.error == 0:
            return difference_p_value(difference, spread.error)
        return p_value(difference, lambda z: area_difference_ends(values, spread, z))

    def _omit(self, rule: Rule, why: str) -> None:
        what = f"the difference of {rule.named}" if rule.is_change else rule.named
        self._warnings[omitted([what], why)] = None

    def _of_one(self, rule: Rule, place: int, value: float, moves: RowMoves, level: float) -> Interval | None:
        error = moves.error_of(moves.of_average(rule.metric, place))
        found = average_interval(rule.metric, place, (value, error), moves, replace(self._how, level=level))
        return found and replace(found, design_effect=error.design_effect)

    def _of_difference(
        self, rule: Rule, place: int, values: Sequence[float], moves: Sequence[RowMoves], level: float
    ) -> Interval | None:
        if any(value in ENDS for value in values):
            each = [self._of_one(rule, place, *of, level) for of in zip(values, moves, strict=True)]
            ends = [(one.lower, one.upper) for one in each if one is not None]
            if len(ends) < len(values):
                return None
            return Interval(*mover_ends(*kept_of(values, ends, rule.kept)), level, "exact", None)
        spread = average_spread(rule, place, moves, paired=self._paired)
        if self._how.method != "delong":
            return area_difference_interval(values, spread, level)
        if rule.metric != "roc":
            return None
        return difference_interval(values[0] - rule.kept * values[1], spread.error, level, rule.kept)


def average_spread(rule: Rule, place: int, moves: Sequence[RowMoves], *, paired: bool) -> Spread:
    """The spread of an average less a share of another one, as for areas (spread.py)."""
    one, other = (each.of_average(rule.metric, place) for each in moves)
    if paired:
        return moves[0].spread_of(one, other, rule.kept)
    of_each = [each.error_of(by) for each, by in zip(moves, (one, other), strict=True)]
    errors = of_each[0].error, of_each[1].error
    by = np.concatenate([moves[0].sums(one), moves[1].sums(rule.kept * other)])
    fewest = min(min(*each.sizes.tolist(), of.freedom) for each, of in zip(moves, of_each, strict=True))
    error = math.hypot(errors[0], rule.kept * errors[1])
    return Spread(error, jump_of(by), errors, 1.0, fewest, kept=rule.kept)
