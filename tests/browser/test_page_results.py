"""Results on the page at /: a moving threshold, compared models, and bounds."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Visit, until
from tests.browser.page import axis_of, loaded, ready, text_of


class TestThreshold:
    def test_by_the_keyboard(self, visit: Visit) -> None:
        page = ready(visit("/"))
        before = float(text_of(page, "#threshold"))
        page.locator("#slider").focus()
        for key, sign in (("ArrowRight", -1), ("ArrowLeft", 1), ("End", -1), ("Home", 1)):
            page.keyboard.press(key)
            after = float(text_of(page, "#threshold"))
            assert (after - before) * sign > 0
            assert page.locator("#slider").get_attribute("aria-valuetext") == text_of(page, "#threshold")
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
        assert text_of(page, "#threshold") in {"0.12345678901", "0.1234567"}


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
        page = ready(visit("/"))
        page.set_input_files("#file", {"name": "two.csv", "mimeType": "", "buffer": b"y,score\n1,0.2\n0,0.1\n"})
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
