"""Data on the page at /: files, pasted and dropped rows, the choice of columns, and problems with them."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tests.browser.conftest import Visit, check_accessible, check_fits, until
from tests.browser.page import chosen, csv_of, loaded, ready, scores_of, table, text_of

pytestmark = pytest.mark.all


class TestData:
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
        """Columns of customer numbers and limits are not taken for scores."""
        cells = [["customer", "limit", "y", "old", "new"]]
        cells += [[f"{7000 + n}", f"{500 * n}", f"{n % 2}", f"0,{3 + n % 5}", f"0,{10 + n}"] for n in range(20)]
        rows = [";".join(f"{quote}{cell}{quote}" for cell in row) for row in cells]
        page = loaded(visit("/"), "export.csv", "\n".join(rows).encode())
        assert scores_of(page) == ["old", "new"]

    def test_numbers_of_rows_are_no_scores_if_the_scores_cannot_be_read(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        rows = "id,y,chance\n" + "".join(f"{n},{n % 2},{n} %\n" for n in range(20))
        chosen(page, "percent.csv", rows.encode())
        problem = "Row 2: '0 %' is not a decimal number: leave out the percent sign."
        until(lambda: text_of(page, "#scores-problem") == problem, "the problem")
        said.clear()  # the browser itself notes the status

    def test_of_two_unknown_labels_one_has_to_be_chosen(self, visit: Visit) -> None:
        page = ready(visit("/"))
        rows = "kind,score\nA,0.9\nB,0.2\nA,0.4\nB,0.1\n"
        chosen(page, "two.csv", rows.encode())
        until(lambda: text_of(page, "#positive_label-problem") == "Which label is positive?", "the question")
        assert page.locator("#results").is_hidden()
        page.locator("#positive_label").select_option("B")
        until(lambda: text_of(page, "#totals") == "score: 2 positives, 2 negatives", "the answer")

    def test_long_names_fit_a_phone(self, visit: Visit) -> None:
        first, second = "a" * 100, "b" * 100
        rows = [f"{at % 3 == 0:d},{at},{-at}" for at in range(30)]
        page = loaded(visit("/", width=320), "long.csv", "\n".join([f"y,{first},{second}", *rows]).encode())
        assert text_of(page, "#better h3").startswith("The data do not show which is better, ")
        check_fits(page)

    def test_a_risk_and_a_label_of_another_language(self, visit: Visit) -> None:
        rows = [f"{at};{'ja' if at % 3 == 0 else 'nein'};0,{at:04};0,{7 * at % 99:04};{at}" for at in range(60)]
        page = loaded(visit("/"), "risk.csv", "\n".join(["No.;Ended?;Risk v1;New risk;Amount", *rows]).encode())
        assert scores_of(page) == ["Risk v1", "New risk"]
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
        chosen(page, "long.csv", csv_of(table()))
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


class TestProblems:
    def test_a_problem_is_shown_next_to_its_field(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.get_by_text("Paste rows").click()
        page.locator("#rows").fill("y,score\n1,0.9\n1,0.8\n1,0.7\n")
        page.locator("#use").click()
        until(lambda: "All 3 labels are" in text_of(page, "#labels-problem") + text_of(page, "#problem"), "the problem")
        check_accessible(page)
        said.clear()  # the browser itself notes the status

    def test_a_file_that_is_not_a_table_is_reported(self, visit: Visit, said: list[str]) -> None:
        page = chosen(ready(visit("/")), "photo.parquet", b"GIF89a" * 50)
        until(lambda: text_of(page, "#problem"), "the problem")
        assert text_of(page, "#problem").startswith("The file does not show its format. This page takes .csv,")
        assert page.locator("#columns").is_hidden()  # they were the sample's
        said.clear()

    def test_of_several_columns_the_wrong_one_is_named(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        rows = b"y,score,old_score\n1,0.5,0.4\n0,NaN,NaN\n1,0.2,0.3\n"
        chosen(page, "text.csv", rows)
        until(lambda: text_of(page, "#scores-problem").startswith("old_score: Row 3: "), "the problem")
        said.clear()

    def test_an_empty_file_is_not_sent(self, visit: Visit) -> None:
        page = chosen(ready(visit("/")), "none.csv", b"")
        until(lambda: text_of(page, "#problem") == "none.csv is empty.", "the problem")

    @pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
    def test_utf_16_is_recognised(self, visit: Visit, charset: str) -> None:
        page = chosen(ready(visit("/")), "wide.csv", "\ufeffy,score\n1,0.9\n0,0.2\n".encode(charset))
        until(lambda: text_of(page, "#problem") == "wide.csv is in UTF-16; save it as CSV UTF-8.", "the problem")

    def test_advice_about_a_format_is_for_the_page_and_not_for_a_client(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        for name, content, problem, found in (
            ("rows.csv.gz", gzip.compress(b"y,score\n1,1\n0,0\n"), "", "gzip"),
            ("rows.json", b'[{"y": 1, "score": 0.9}]', "In row 1, a quote is not closed, ", "JSON"),
        ):
            chosen(page, name, content)
            told = f"This looks like {found}. This page takes .csv, .arrow, .arrows, .feather, and .parquet."
            until(lambda told=told: text_of(page, "#problem").endswith(told), "the problem")
            assert text_of(page, "#problem").startswith(problem)
            assert "Windows-1252" not in text_of(page, "#source")
        said.clear()

    def test_a_table_without_rows_gets_no_advice_about_curl(self, visit: Visit, said: list[str]) -> None:
        page = chosen(ready(visit("/")), "bare.csv", b"y,score\n")
        until(lambda: text_of(page, "#problem") == "The table has a header and no rows.", "the problem")
        said.clear()

    def test_a_score_that_is_not_a_number_is_reported(self, visit: Visit, said: list[str]) -> None:
        page = chosen(ready(visit("/")), "text.csv", b"y,score\n1,0.5\n0,NaN\n1,0.2\n")
        until(
            lambda: text_of(page, "#scores-problem") == "Row 3: This is NaN; it must be a number.",
            "the problem",
        )
        assert page.locator("#offers button").all_text_contents() == ["Leave out rows without a value"]
        said.clear()

    def test_an_upload_can_be_cancelled(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        page.route("**/v1/columns*", lambda _: None)  # it never answers
        chosen(page, "scores.csv", csv_of(table()))
        page.get_by_role("button", name="Cancel").click()
        until(lambda: text_of(page, "#problem") == "Cancelled.", "the end of the upload")
        assert page.locator("#busy").is_hidden()
        assert page.evaluate("document.activeElement.id") == "file"
        said.clear()


def test_a_million_rows(visit: Visit) -> None:
    """Parquet of 16 MB; the time is measured by tests/tools/bench."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table(1_000_000).select(["y", "score"]), sink)
    page = loaded(visit("/"), "million.parquet", sink.getvalue().to_pybytes())
    assert text_of(page, "#totals") == "score: 250,000 positives, 750,000 negatives"
