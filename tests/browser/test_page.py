"""The page at /, in a real Chromium: by mouse and by keyboard alone, in both themes, wide and narrow."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import Page
from pyarrow import feather, parquet

from tests.browser.conftest import Visit, check_accessible, check_fits, running, until


def text_of(page: Page, selector: str) -> str:
    return page.locator(selector).first.text_content() or ""


def ready(page: Page) -> Page:
    """Wait until everything that the page asks for by itself has come."""
    until(lambda: text_of(page, "#verdict") and page.locator("#busy").is_hidden(), "the verdict")
    until(page.locator("#rates td:nth-child(3)").first.text_content, "the intervals")
    return page


def loaded(page: Page, name: str, content: bytes) -> Page:
    """Choose a file, and wait for its verdict."""
    page.evaluate("document.getElementById('verdict').textContent = ''")
    page.set_input_files("#file", {"name": name, "mimeType": "", "buffer": content})
    until(lambda: name in text_of(page, "#source"), "the file")
    return ready(page)


def axis_of(page: Page, plane: str) -> tuple[float, float, float]:
    """Where a picture has its vertical axis: x, and y of 0 and of 1."""
    start, end = (page.locator(f"#{plane} polyline.grid").first.get_attribute("points") or "").split()
    (left, bottom), (_, top) = (map(float, corner.split(",")) for corner in (start, end))
    return left, bottom, top


def table(rows: int = 200) -> pa.Table:
    random = np.random.default_rng(3)
    labels = np.arange(rows) % 4 == 0
    scores = random.normal(size=rows) + labels
    return pa.table(
        {"id": np.arange(rows), "y": labels, "score": scores, "older_score": scores + random.normal(size=rows)}
    )


def csv_of(found: pa.Table, delimiter: str = ",", decimal: str = ".") -> bytes:
    columns = [[str(value).replace(".", decimal) for value in column.to_pylist()] for column in found.columns]
    lines = [delimiter.join(cells) for cells in [found.column_names, *zip(*columns, strict=True)]]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(("scheme", "paper"), [("light", "#ffffff"), ("dark", "#0d1117")])
@pytest.mark.parametrize("width", [1280, 320])
def test_everyone_can_use_it(visit: Visit, scheme: Any, paper: str, width: int) -> None:
    page = ready(visit("/", width=width, color_scheme=scheme))
    assert page.locator("#roc rect.paper").get_attribute("color") == paper
    for forced in ("none", "active"):
        page.emulate_media(forced_colors=forced)  # type: ignore[arg-type]  # one of two words
        check_accessible(page)
        check_fits(page)


def test_the_sample_is_evaluated_when_the_page_opens(visit: Visit) -> None:
    page = ready(visit("/"))
    assert text_of(page, "#totals") == "candidate: 120 positives, 480 negatives"
    for plane in ("#roc", "#pr", "#compared-roc", "#compared-pr", "#gated"):
        assert page.locator(f"{plane} svg desc").count() == 1
    assert re.match(r"candidate is better than current by ", text_of(page, "#better h3"))
    counts = [int(text_of(page, f"#{cell}").replace(",", "")) for cell in ("tp", "fn", "fp", "tn")]
    assert (counts[0] + counts[1], counts[2] + counts[3]) == (120, 480)


class TestData:
    def test_a_csv_file(self, visit: Visit) -> None:
        page = loaded(visit("/"), "scores.csv", csv_of(table()))
        assert page.locator("#labels").input_value() == "y"
        assert [box.get_attribute("value") for box in page.locator("#scores :checked").all()] == [
            "score",
            "older_score",
        ]
        assert "200 rows" in text_of(page, "#source")

    def test_files_of_columns(self, visit: Visit) -> None:
        page = visit("/")
        for rows, suffix in ((200, "parquet"), (400, "arrow"), (800, "feather")):
            sink = pa.BufferOutputStream()
            if suffix == "parquet":
                parquet.write_table(table(rows), sink)
            else:
                feather.write_feather(table(rows), sink, compression="uncompressed")
            loaded(page, f"scores.{suffix}", sink.getvalue().to_pybytes())
            assert text_of(page, "#totals") == f"older_score: {rows // 4} positives, {rows // 4 * 3} negatives"

    def test_a_spreadsheet_s_export(self, visit: Visit) -> None:
        """Semicolons between columns, commas in numbers."""
        page = loaded(visit("/"), "export.csv", csv_of(table(), ";", ","))
        assert text_of(page, "#totals") == "older_score: 50 positives, 150 negatives"

    def test_commas_in_a_name_do_not_hide_semicolons(self, visit: Visit) -> None:
        rows = 'y;"score, of 2026"\n' + "1;0.9\n0;0.2\n" * 20
        page = loaded(visit("/"), "named.csv", rows.encode())
        assert text_of(page, "#totals") == "score, of 2026: 20 positives, 20 negatives"

    @pytest.mark.parametrize("quote", ["", '"'])
    def test_probabilities_with_decimal_commas_are_the_models(self, visit: Visit, quote: str) -> None:
        """Neither the numbers of customers nor their limits are."""
        cells = [["customer", "limit", "y", "old", "new"]]
        cells += [[f"{7000 + n}", f"{500 * n}", f"{n % 2}", f"0,{3 + n % 5}", f"0,{10 + n}"] for n in range(20)]
        rows = [";".join(f"{quote}{cell}{quote}" for cell in row) for row in cells]
        page = loaded(visit("/"), "export.csv", "\n".join(rows).encode())
        assert [box.get_attribute("value") for box in page.locator("#scores :checked").all()] == ["old", "new"]

    def test_numbers_of_rows_are_no_scores_if_the_scores_cannot_be_read(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        rows = "id,y,chance\n" + "".join(f"{n},{n % 2},{n} %\n" for n in range(20))
        page.set_input_files("#file", {"name": "percent.csv", "mimeType": "", "buffer": rows.encode()})
        until(lambda: text_of(page, "#scores-problem") == "Row 1: '0 %' is not a decimal number.", "the problem")
        said.clear()  # the browser itself notes the status

    def test_of_two_unknown_labels_one_has_to_be_chosen(self, visit: Visit) -> None:
        page = ready(visit("/"))
        rows = "kind,score\nA,0.9\nB,0.2\nA,0.4\nB,0.1\n"
        page.set_input_files("#file", {"name": "two.csv", "mimeType": "", "buffer": rows.encode()})
        until(lambda: text_of(page, "#positive_label-problem") == "Which label is positive?", "the question")
        assert page.locator("#results").is_hidden()
        page.locator("#positive_label").select_option("B")
        until(lambda: text_of(page, "#totals") == "score: 2 positives, 2 negatives", "the answer")

    def test_long_names_fit_a_phone(self, visit: Visit) -> None:
        first, second = "a" * 100, "b" * 100
        rows = [f"{at % 3 == 0:d},{at},{-at}" for at in range(30)]
        page = loaded(visit("/", width=320), "long.csv", "\n".join([f"y,{first},{second}", *rows]).encode())
        assert text_of(page, "#better h3").startswith("The data show no difference between")
        check_fits(page)

    def test_a_risk_and_a_label_of_another_language(self, visit: Visit) -> None:
        rows = [f"{at};{'ja' if at % 3 == 0 else 'nein'};0,{at:04};0,{7 * at % 99:04};{at}" for at in range(60)]
        page = loaded(visit("/"), "risk.csv", "\n".join(["No.;Ended?;Risk v1;New risk;Amount", *rows]).encode())
        assert [box.get_attribute("value") for box in page.locator("#scores :checked").all()] == ["Risk v1", "New risk"]
        assert page.locator("#positive_label").input_value() == "ja"

    def test_many_columns_take_little_room(self, visit: Visit) -> None:
        names = [f"feature_{number}" for number in range(60)]
        rows = [",".join(["y", *names]), *(",".join([str(row % 2), *([str(row)] * 60)]) for row in range(4))]
        page = loaded(visit("/"), "many.csv", "\n".join(rows).encode())
        box = page.locator("#scores").bounding_box()
        assert box
        assert box["height"] < 300
        check_accessible(page)

    def test_pasted_rows(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.get_by_text("Paste rows").click()
        page.locator("#rows").fill("label,score\nspam,0.9\nham,0.2\nspam,0.7\nham,0.8\nspam,0.6\nham,0.1\n")
        page.get_by_role("button", name="Use these rows").click()
        until(lambda: text_of(page, "#totals") == "score: 3 positives, 3 negatives", "the pasted rows")
        ready(page)
        assert page.locator("#positive_label").input_value() == "spam"
        assert page.locator("#comparison").is_hidden()

    def test_a_dropped_file(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.evaluate(
            """text => {
                const dropped = new DataTransfer();
                dropped.items.add(new File([text], "dropped.csv"));
                const event = new DragEvent("drop", {dataTransfer: dropped, cancelable: true});
                document.getElementById("drop").dispatchEvent(event);
            }""",
            csv_of(table()).decode(),
        )
        until(lambda: text_of(page, "#totals") == "older_score: 50 positives, 150 negatives", "the dropped file")

    def test_a_file_that_is_too_long_is_not_sent(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.evaluate("document.documentElement.dataset.limit = 1000")
        page.set_input_files("#file", {"name": "long.csv", "mimeType": "", "buffer": csv_of(table())})
        until(lambda: "this server takes up to 1,000 bytes" in text_of(page, "#problem"), "the limit")

    def test_other_columns(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.get_by_label("candidate").first.uncheck()
        until(lambda: text_of(page, "#totals") == "current: 120 positives, 480 negatives", "the other model")
        page.locator("#lower_is_positive").check()
        until(lambda: "lower-is-positive" in text_of(page, "#copies"), "scores that mean the opposite")

    def test_another_label_is_not_a_model(self, visit: Visit) -> None:
        rows = "first,second,score\n1,1,0.9\n0,1,0.8\n1,0,0.7\n0,0,0.1\n"
        page = loaded(visit("/"), "two.csv", rows.encode())
        page.locator("#labels").select_option("second")
        until(lambda: "--labels second" in text_of(page, "#copies"), "the other label")
        boxes = [box.get_attribute("value") for box in page.locator("#scores input").all()]
        assert boxes == ["first", "score"]


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
        until(lambda: text_of(page, "#jump-problem") == "No threshold reaches it.", "the note")
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
        difference, interval, baseline, value = page.locator("#better tr").nth(1).locator("td").all_text_contents()
        assert float(value) - float(baseline) == pytest.approx(float(difference), abs=2e-4)
        lower, upper = map(float, interval.split(" to "))
        assert lower < float(difference) < upper

    def test_a_picture_on_the_side_ends_nothing(self, visit: Visit) -> None:
        """The page is still comparing while somebody opens it."""
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


class TestTheSameElsewhere:
    def test_commands_and_rules_do_what_the_page_shows(self, visit: Visit, root: Path, tmp_path: Path) -> None:
        page = loaded(visit("/"), "scores.csv", csv_of(table()))
        (tmp_path / "scores.csv").write_bytes(csv_of(table()))
        curl, commands, rules = (each.text_content() or "" for each in page.locator("#copies pre").all())
        (tmp_path / "rules.toml").write_text(rules)
        ours = [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(root)!r}); from service.cli.main import main; main()",
        ]

        def run(command: list[str]) -> str:
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode in {0, 1}, done.stderr
            return done.stdout

        answer = json.loads(run(shlex.split(curl)))
        assert answer["positives"] == 50
        first, second = (shlex.split(command) for command in commands.splitlines())
        assert f"{answer['auc']['roc']:.6f}" in run(ours + first[1:])
        verdict = run(ours + second[1:])
        assert ("Gate passed" in verdict) == ("passes" in text_of(page, "#verdict"))
        assert f"under the ROC curve {answer['auc']['roc']:.4f}" in text_of(page, "#roc desc")

    def test_a_copy(self, visit: Visit) -> None:
        page = ready(visit("/"))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy: curl").click()
        until(lambda: page.get_by_role("button", name="Copy: curl").text_content() == "Copied", "the copy")
        assert page.evaluate("navigator.clipboard.readText()") == text_of(page, "#copies pre")

    def test_saved_pictures(self, visit: Visit, tmp_path: Path) -> None:
        page = ready(visit("/"))
        saved: list[Any] = []

        def note(download: Any) -> None:
            saved.append(download)

        page.on("download", note)
        page.locator("#save").click()
        until(lambda: page.evaluate("1") and len(saved) == 2, "two pictures")
        page.remove_listener("download", note)
        assert sorted(each.suggested_filename for each in saved) == ["candidate-pr.svg", "candidate-roc.svg"]
        saved[0].save_as(tmp_path / "picture.svg")
        assert (tmp_path / "picture.svg").read_text().startswith("<svg ")


class TestKeysAndProblems:
    def test_with_keys_the_page_waits_for_one(self, visit: Visit, root: Path, tmp_path: Path) -> None:
        key = "a-key-of-a-test-that-is-long-enough"
        keys = tmp_path / "keys"
        keys.write_text(f"tester {sha256(key.encode()).hexdigest()}\n")
        keys.chmod(0o600)
        with running(root, tmp_path / "log", ROCPR_WORKERS="1", ROCPR_API_KEYS_FILE=str(keys)) as address:
            page = visit("/", at=address)
            assert page.locator("#results").is_hidden()
            check_accessible(page)
            page.get_by_label("API key").fill(key)
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            ready(page)
            assert text_of(page, "#totals").startswith("candidate")

    def test_a_problem_is_shown_next_to_its_field(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.get_by_text("Paste rows").click()
        page.locator("#rows").fill("y,score\n1,0.9\n1,0.8\n1,0.7\n")
        page.locator("#use").click()
        until(lambda: "All 3 labels are" in text_of(page, "#labels-problem") + text_of(page, "#problem"), "the problem")
        check_accessible(page)
        said.clear()  # the browser itself notes the status

    def test_a_file_that_is_not_a_table_is_reported(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.set_input_files("#file", {"name": "photo.parquet", "mimeType": "", "buffer": b"GIF89a" * 50})
        until(lambda: text_of(page, "#problem"), "the problem")
        assert "Parquet" in text_of(page, "#problem")
        assert page.locator("#columns").is_hidden()  # they were the sample's
        said.clear()

    def test_rows_without_names_are_reported(self, visit: Visit) -> None:
        page = visit("/")
        page.set_input_files("#file", {"name": "bare.csv", "mimeType": "", "buffer": b"1,0.9\n0,0.3\n1,0.4\n0,0.1\n"})
        until(lambda: text_of(page, "#problem") == "The first row must name the columns.", "the problem")

    def test_a_score_that_is_not_a_number_is_reported(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.set_input_files("#file", {"name": "text.csv", "mimeType": "", "buffer": b"y,score\n1,0.5\n0,NaN\n1,0.2\n"})
        until(lambda: "Row 2: This is not a finite" in text_of(page, "#scores-problem"), "the problem")
        said.clear()

    def test_an_upload_can_be_cancelled(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.route("**/v1/columns*", lambda _: None)  # it never answers
        page.set_input_files("#file", {"name": "scores.csv", "mimeType": "", "buffer": csv_of(table())})
        page.get_by_role("button", name="Cancel").click()
        until(lambda: text_of(page, "#problem") == "Cancelled.", "the end of the upload")
        assert page.locator("#busy").is_hidden()
        said.clear()


def test_a_million_rows(visit: Visit) -> None:
    """Parquet of 16 MB; the time is measured by tests/bench."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table(1_000_000).select(["y", "score"]), sink)
    page = loaded(visit("/"), "million.parquet", sink.getvalue().to_pybytes())
    assert text_of(page, "#totals") == "score: 250,000 positives, 750,000 negatives"


def test_it_is_small(root: Path) -> None:
    files = ("index.html", "page.css", "page.js")
    assert sum((root / "service/page" / name).stat().st_size for name in files) < 30_000
