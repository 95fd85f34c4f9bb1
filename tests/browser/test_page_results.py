"""Results on the page at /: a moving threshold, compared models, and bounds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visit, until
from tests.browser.page import axis_of, bounded, chosen, copies, csv_of, loaded, ready, table, text_of

pytestmark = pytest.mark.all

NO_BOUND = "Add a bound to judge by."


def counts(page: Page) -> tuple[int, int]:
    """The true and the false positives at the threshold."""
    true, false = (int(text_of(page, cell).replace(",", "")) for cell in ("#tp", "#fp"))
    return true, false


class TestThreshold:
    def test_by_the_keyboard(self, visit: Visit) -> None:
        page = ready(visit("/"))
        before = float(page.locator("#threshold").input_value())
        page.locator("#slider").focus()
        for key, sign in (("ArrowRight", -1), ("ArrowLeft", 1), ("End", -1), ("Home", 1)):
            page.keyboard.press(key)
            after = float(page.locator("#threshold").input_value())
            assert (after - before) * sign > 0
            assert page.locator("#slider").get_attribute("aria-valuetext") == page.locator("#threshold").input_value()
            before = after

    @pytest.mark.parametrize(("plane", "x", "y"), [("roc", 0.5, 0.99), ("pr", 0.5, 0.9)])
    def test_by_a_click_on_a_curve(self, visit: Visit, plane: str, x: float, y: float) -> None:
        page = ready(visit("/"))
        left, bottom, top = axis_of(page, plane)
        page.locator(f"#{plane} svg").click(position={"x": left + 360 * x, "y": top + 360 * (1 - y)})
        recall, precision, fpr = (
            float(text_of(page, f"#rates tr:nth-child({row}) td:nth-child(2)")) for row in (1, 2, 3)
        )
        there = (fpr, recall) if plane == "roc" else (recall, precision)
        assert there == pytest.approx((x, y), abs=0.1)
        mark = page.locator(f"#{plane} .mark")
        assert float(mark.get_attribute("cx")) == pytest.approx(left + 360 * there[0], abs=0.1)
        assert float(mark.get_attribute("cy")) == pytest.approx(bottom - 360 * there[1], abs=0.1)
        assert bottom - top == 360

    def test_by_what_it_should_reach(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.locator("#jump").select_option(label="recall ≥ 0.9")
        until(lambda: int(text_of(page, "#tp")) >= 108, "a recall of 0.9")
        assert int(text_of(page, "#tp")) == 108
        page.locator("#slider").press("ArrowRight")
        assert page.locator("#jump").input_value() == ""

    def test_what_none_reaches_is_said(self, visit: Visit) -> None:
        page = loaded(visit("/"), "bad.csv", b"y,score\n1,0.2\n0,0.3\n1,0.4\n0,0.5\n")
        page.locator("#jump").select_option(label="precision ≥ 0.95")
        until(lambda: text_of(page, "#jump-problem") == "No threshold meets this.", "the note")
        page.locator("#slider").press("Home")
        assert text_of(page, "#jump-problem") == ""

    def test_rates_have_the_service_s_intervals(self, visit: Visit) -> None:
        page = ready(visit("/"))
        first = text_of(page, "#rates tr:first-child td:nth-child(3)")
        lower, upper = map(float, first.split(" to "))
        assert lower < float(text_of(page, "#rates tr:first-child td:nth-child(2)")) < upper

    def test_it_is_shown_to_the_last_digit(self, visit: Visit) -> None:
        """A threshold that is deployed rounded calls other examples positive."""
        page = ready(visit("/"))
        page.get_by_text("Paste rows").click()
        page.locator("#rows").fill("y,score\n1,0.12345678901\n0,0.12345678\n1,0.1234567\n0,0.1\n")
        page.locator("#use").click()
        until(lambda: text_of(page, "#totals") == "score: 2 positives, 2 negatives", "the rows")
        assert page.locator("#threshold").input_value() in {"0.12345678901", "0.1234567"}

    @pytest.mark.parametrize("lower_is_positive", [False, True])
    def test_a_typed_one_has_exact_counts(self, visit: Visit, *, lower_is_positive: bool) -> None:
        """The curves are drawn from some rows of many."""
        found = table(6000)
        page = loaded(visit("/"), "many.csv", csv_of(found.select(["y", "score"])))
        if lower_is_positive:
            page.locator("#lower_is_positive").check()
            until(lambda: "lower-is-positive" in copies(page)[1], "scores that mean the opposite")
        assert int(page.locator("#slider").get_attribute("max") or 0) < 5000
        scores, labels = (np.array(found[name]) for name in ("score", "y"))
        for typed in ("0.5", "0.123", "-1e-3", "9", "-9"):
            page.locator("#threshold").fill(typed)
            page.locator("#threshold").press("Enter")
            called = scores <= float(typed) if lower_is_positive else scores >= float(typed)
            expected = (int(np.sum(called & labels)), int(np.sum(called & ~labels)))
            until(lambda expected=expected: counts(page) == expected, f"the threshold {typed}")
            assert float(page.locator("#threshold").input_value()) == float(typed)
        bounded(page, "recall at the threshold", 0.5)
        until(lambda: "at_threshold = -9\n" in copies(page)[2], "a rule at the typed threshold")

    def test_what_is_no_threshold_changes_nothing(self, visit: Visit) -> None:
        page = ready(visit("/"))
        before = page.locator("#threshold").input_value(), counts(page)
        page.locator("#threshold").fill("")
        page.locator("#threshold").press("Tab")
        assert (page.locator("#threshold").input_value(), counts(page)) == before

    @pytest.mark.parametrize("lower_is_positive", [False, True])
    def test_by_steps(self, visit: Visit, *, lower_is_positive: bool) -> None:
        """A step leads to the next threshold, from a typed one, too, and not beyond the last."""
        page = loaded(visit("/"), "few.csv", b"y,score\n1,0.9\n0,0.6\n1,0.5\n0,0.1\n")
        if lower_is_positive:
            page.locator("#lower_is_positive").check()
            until(lambda: "lower-is-positive" in copies(page)[1], "scores that mean the opposite")
        page.locator("#threshold").fill("0.59")
        page.locator("#threshold").press("Enter")
        until(lambda: counts(page) == ((1, 1)), "the typed threshold")
        for button, reached in (("+", 0.6), ("+", 0.9), ("+", 0.9), ("−", 0.6), ("−", 0.5), ("−", 0.1), ("−", 0.1)):
            page.locator("#steps").get_by_text(button).click()
            assert float(page.locator("#threshold").input_value()) == reached
        assert counts(page) == ((0, 1) if lower_is_positive else (2, 2))

    def test_the_share_called_positive_has_its_interval(self, visit: Visit) -> None:
        page = ready(visit("/"))
        name, share, ends = page.locator("#rates tr").last.locator("th, td").all_text_contents()
        assert name == "share called positive"
        of = 600
        assert float(share) == pytest.approx(sum(counts(page)) / of, rel=1e-3)
        lower, upper = map(float, ends.split(" to "))
        assert lower < float(share) < upper

    def test_a_false_positive_rate_is_not_taken_for_a_share_of_all_rows(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.locator("#jump").select_option(label="false positive rate ≤ 0.01")
        until(lambda: text_of(page, "#jump-note"), "the note")
        share = 100 * sum(counts(page)) / 600
        expected = f"That is a share of the negatives. Of all rows, {share:.4g}"
        assert text_of(page, "#jump-note").startswith(expected)
        page.locator("#jump").select_option(label="recall ≥ 0.9")
        until(lambda: not text_of(page, "#jump-note"), "the end of the note")

    @pytest.mark.parametrize("lower_is_positive", [False, True])
    def test_infinite_ones(self, visit: Visit, *, lower_is_positive: bool) -> None:
        """They have a name, not the largest number of a double."""
        rows = "y,score\n1,inf\n0,inf\n1,0.5\n0,0.4\n1,-inf\n0,-inf\n1,-inf\n"
        page = loaded(visit("/"), "infinite.csv", rows.encode())
        if lower_is_positive:
            page.locator("#lower_is_positive").check()
            until(lambda: "lower-is-positive" in copies(page)[1], "scores that mean the opposite")
            ready(page)
        page.locator("#slider").press("Home")
        first = "-inf" if lower_is_positive else "inf"
        assert page.locator("#threshold").input_value() == ""
        assert page.locator("#threshold").get_attribute("placeholder") == first
        assert page.locator("#slider").get_attribute("aria-valuetext") == first
        assert counts(page) == ((2, 1) if lower_is_positive else (1, 1))
        bounded(page, "recall at the threshold", 0.9)
        until(lambda: f"at_threshold = {first}\n" in copies(page)[2], "a rule that TOML can hold")
        until(lambda: f"recall at threshold {first} is " in text_of(page, "#reasons"), "the reason")
        assert "e308" not in (page.locator("body").text_content() or "").replace("+", "")
        page.locator("#steps").get_by_text("+" if lower_is_positive else "−").click()
        assert page.locator("#threshold").input_value() == ("0.4" if lower_is_positive else "0.5")


class TestModels:
    def test_another_model(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.locator("#models input[value=current]").focus()
        page.keyboard.press("Space")
        until(lambda: text_of(page, "#totals").startswith("current: "), "the other model")
        until(lambda: re.match(r"current is worse than candidate by ", text_of(page, "#better h3")), "the sentence")

    def test_the_differences_are_those_of_a_gate(self, visit: Visit) -> None:
        page = ready(visit("/"))
        baseline, value, together = page.locator("#better tr").nth(1).locator("td").all_text_contents()
        difference, interval = together.removesuffix(")").split(" (")
        assert float(value) - float(baseline) == pytest.approx(float(difference), abs=2e-4)
        lower, upper = map(float, interval.split(" to "))
        assert lower < float(difference) < upper

    def test_a_picture_on_the_side_ends_nothing(self, visit: Visit) -> None:
        """The comparison is opened while the page is still computing it."""
        page = visit("/")
        until(lambda: page.locator("#roc svg").count() == 1, "the first picture")
        page.locator("#tradeoffs summary").click()
        until(lambda: page.locator("#tradeoffs svg").count() == 1, "the picture on the side")
        until(lambda: text_of(page, "#better h3") and text_of(page, "#verdict"), "all the rest")

    def test_trade_offs(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.get_by_text("Trade-off between recall and precision").click()
        until(lambda: page.locator("#tradeoffs svg").count() == 1, "the picture of trade-offs")


class TestBounds:
    def test_own_data_are_not_judged_by_the_sample_s_bounds(self, visit: Visit) -> None:
        page = ready(visit("/"))
        assert page.locator(".rule").count() == 2
        loaded(page, "own.csv", csv_of(table()))
        assert (page.locator(".rule").count(), text_of(page, "#verdict")) == (0, NO_BOUND)
        assert "[[rules]]" not in copies(page)[2]
        assert "rocpr gate" not in copies(page)[1]
        bounded(page, "ROC area", 0.7)
        page.locator("#models input").last.check()
        until(lambda: text_of(page, "#totals").startswith("older_score: "), "the other model")
        assert page.locator(".rule").count() == 1
        loaded(page, "next.csv", csv_of(table(400)))
        assert (page.locator(".rule").count(), text_of(page, "#verdict")) == (0, NO_BOUND)

    def test_another_metric_has_no_bound_yet(self, visit: Visit) -> None:
        page = bounded(loaded(visit("/"), "own.csv", csv_of(table())), "ROC area", 0.99)
        until(lambda: text_of(page, "#verdict").startswith("✗ "), "the verdict")
        page.locator(".rule select").first.select_option(label="false positive rate at the threshold")
        until(lambda: text_of(page, "#verdict") == NO_BOUND, "that nothing is judged")
        assert page.locator(".rule [type=number]").input_value() == ""
        assert page.locator("#drawn-gate svg").count() == 0

    def test_a_verdict_follows_its_bound(self, visit: Visit) -> None:
        page = ready(visit("/"))
        bound = page.locator(".rule input[type=number]").first
        for value, verdict in (("0.999", "fails"), ("0.5", "candidate")):
            bound.fill(value)
            bound.press("Enter")
            page.locator(".rule input[type=number]").nth(1).fill("0.1")
            page.locator(".rule input[type=number]").nth(1).press("Tab")
            until(lambda verdict=verdict: verdict in text_of(page, "#verdict"), "the verdict")
        until(lambda: text_of(page, "#verdict") == "✓ candidate passes.", "a passed gate")

    def test_what_cannot_be_judged_is_not_failed(self, visit: Visit) -> None:
        page = chosen(ready(visit("/")), "two.csv", b"y,score\n1,0.2\n0,0.1\n")
        until(lambda: text_of(page, "#verdict") == NO_BOUND, "that nothing is judged")
        page.locator("#add").click()
        page.locator(".rule select").first.select_option(label="ROC area")
        page.locator(".rule input[type=number]").fill("0.8")
        page.locator(".rule input[type=checkbox]").check()
        until(lambda: text_of(page, "#verdict") == "? score cannot be judged.", "the verdict")
        assert page.locator("#verdict").get_attribute("class") == "undecided"

    def test_bounds_come_and_go_by_the_keyboard(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.locator("#add").focus()
        page.keyboard.press("Enter")
        assert page.locator(".rule").count() == 3
        assert page.evaluate("document.activeElement.tagName") == "SELECT"
        page.locator(".rule").last.get_by_role("button").press("Enter")
        assert page.locator(".rule").count() == 2
        assert page.evaluate("document.activeElement.id") == "add"

    def test_a_bound_on_a_drop(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.get_by_label("current").first.uncheck()
        until(page.locator("#comparison").is_hidden, "one model")
        drop = page.locator(".rule option[value=max_drop]").first
        until(drop.is_disabled, "that there is nothing to drop from")
        page.get_by_label("current").first.check()
        until(drop.is_enabled, "two models")
        page.locator(".rule select").nth(1).select_option(label="drop at most")
        page.locator(".rule input[type=number]").first.fill("0")
        page.locator(".rule input[type=number]").first.press("Tab")
        until(lambda: "max_drop = 0" in text_of(page, "#copies"), "the rule")
