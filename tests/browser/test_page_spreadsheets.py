"""Files as spreadsheets and analysts have them, on the page at /: what is read, what is asked, and narrow screens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import Visit, check_accessible, check_fits, until
from tests.browser.page import chosen, copies, csv_of, loaded, ready, run, table, text_of

pytestmark = pytest.mark.all

OLD, NEW = (f"kunden_modell_{year}_mit_allen_merkmalen_nach_der_ersten_prüfung" for year in (2024, 2025))


def export(rows: int = 3000, every: int = 100) -> bytes:
    """A German spreadsheet's export: two models, cells without a score, and two emptied rows at the end."""
    random = np.random.default_rng(1)
    lines = ["sep=;", f"Kündigung;{OLD};{NEW}"]
    for row in range(rows):
        left = row % 20 == 0
        old, new = (f"{random.normal() + shift * left:.4f}".replace(".", ",") for shift in (1, 2))
        lines.append(f"{'ja' if left else 'nein'};{old if (row + 1) % every else ''};{new}")
    return "\r\n".join([*lines, ";;", ";;"]).encode("cp1252")


class TestSpreadsheets:
    def test_an_export_is_read_and_rows_without_a_value_are_left_out(
        self, visit: Visit, said: list[str], root: Path, tmp_path: Path
    ) -> None:
        page = chosen(ready(visit("/")), "export.csv", export())
        problem = f"{OLD}: Row 101: This is blank; it must be a number."
        until(lambda: text_of(page, "#scores-problem") == problem, "the problem")
        said.clear()  # the browser itself notes the status
        assert text_of(page, "#source").endswith("read as Windows-1252, 3,000 rows")
        page.get_by_role("button", name="Leave out 30 of 3,000 rows without a value").click()
        until(lambda: text_of(page, "#totals") == f"{NEW}: 150 positives, 2,850 negatives", "the answer")
        page.locator("#models input").first.check()
        until(lambda: text_of(page, "#totals").startswith(OLD), "the other model")
        until(lambda: f"--scores '{OLD}'" in copies(page)[1], "the commands")
        assert text_of(page, "#totals") == f"{OLD}: 150 positives, 2,820 negatives"
        assert "30 of 3000 rows are left out" in text_of(page, "#warnings")
        assert text_of(page, "#source").endswith("those without a value are left out")
        assert page.locator("#offers button").count() == 0
        (tmp_path / "export.csv").write_bytes(export())
        curl, command, _ = copies(page)
        answer = json.loads(run(curl, tmp_path, root))
        assert (answer["positives"], answer["negatives"]) == (150, 2820)
        assert f"{answer['auc']['roc']:.6f}" in run(command, tmp_path, root)

    def test_the_offer_stands_by_its_problem(self, visit: Visit, said: list[str]) -> None:
        page = chosen(ready(visit("/")), "export.csv", export(200))
        until(page.locator("#scores-problem + #offers button").count, "the offer")
        said.clear()
        page.locator("#offers button").focus()
        page.keyboard.press("Enter")
        until(lambda: text_of(page, "#totals").startswith(NEW), "the answer")
        assert page.evaluate("document.activeElement.id") == "file"

    @pytest.mark.parametrize(
        ("rows", "offer"),
        [
            ("y,score\n1,0.9\n0,\n1,0.4\n0,0.1\n", "Leave out 1 of 4 rows without a value"),
            ("y,score\n1,0.9\n,0.2\n1,0.4\n0,0.1\n", "Leave out 1 of 4 rows without a value"),
            ("y,score,weight\n1,0.9,1\n0,0.2,\n1,0.4,1\n0,0.1,2\n", "Leave out 1 of 4 rows without a value"),
            ("y,score,score_b\n1,0.9,\n0,,0.2\n1,0.4,0.3\n0,0.1,0.2\n", "Leave out rows without a value"),
            ("y,score\n1,0.9\n0,NA\n1,0.4\n0,0.1\n", "Leave out rows without a value"),
        ],
    )
    def test_other_cells_without_a_value(self, visit: Visit, said: list[str], rows: str, offer: str) -> None:
        page = chosen(ready(visit("/")), "gaps.csv", rows.encode())
        page.get_by_role("button", name=offer, exact=True).click()
        until(lambda: "missing=drop" in copies(page)[0], "the answer")
        assert "1 of 4 rows is left out" in text_of(page, "#warnings")
        assert "missing=drop" not in (page.locator("#data").text_content() or "")
        said.clear()

    def test_rows_without_names(self, visit: Visit, said: list[str], root: Path, tmp_path: Path) -> None:
        rows = b"0.9,1\n0.3,0\n0.4,1\n0.1,0\n0.2,1\n"
        page = chosen(visit("/"), "bare.csv", rows)
        until(lambda: text_of(page, "#problem").startswith("The first row has numbers where names"), "the problem")
        assert "header" not in text_of(page, "#problem")
        said.clear()
        page.get_by_role("button", name="The first row is data").click()
        until(lambda: text_of(page, "#totals") == "1: 3 positives, 2 negatives", "the answer")
        ready(page)
        (tmp_path / "bare.csv").write_bytes(rows)
        curl, command, _ = copies(page)
        assert json.loads(run(curl, tmp_path, root))["positives"] == 3
        assert "positives     3\n" in run(command, tmp_path, root)

    @pytest.mark.parametrize(
        ("rows", "row"),
        [
            ("y;score\n1;0,9\n;\n0;x\n", 4),
            ("sep=;\ny;score\n1;0,9\n0;x\n", 3),
            ("sep=;\ny;score\n1;0,9\n;\n\n0;x\n", 5),
        ],
    )
    def test_rows_have_the_numbers_that_a_spreadsheet_shows(
        self, visit: Visit, said: list[str], rows: str, row: int
    ) -> None:
        """A spreadsheet hides the line sep=;, and shows blank ones."""
        page = chosen(ready(visit("/")), "rows.csv", rows.encode())
        until(lambda: text_of(page, "#scores-problem").startswith(f"Row {row}: 'x' is not"), "the row")
        said.clear()

    def test_a_file_is_never_called_a_body(self, visit: Visit, said: list[str]) -> None:
        page = ready(visit("/"))
        wrong = {
            "a.csv": b"y,score\n1\n",
            "b.csv": b'y,score\n1,"0.5\n',
            "c.csv": "y,score\n1,0.5\n".encode("utf-16"),
            "d.parquet": b"PAR1 and no more PAR1",
            "e.arrow": b"ARROW1\0\0 and no more",
            "f.csv": b"\xff\xfe\0\0",
            "g.parquet": b"y,score\n1,0.5\n",
        }
        for name, content in wrong.items():
            chosen(page, name, content)
            until(lambda name=name: text_of(page, "#source").startswith(name), "the file")
            until(lambda: text_of(page, "#problem") + text_of(page, "#labels-problem"), "the problem")
            assert "body" not in text_of(page, "#problem").lower(), name
        said.clear()


class TestNames:
    def test_columns_with_the_names_of_properties(self, visit: Visit) -> None:
        names = ["y", "constructor", "__proto__"]
        page = loaded(visit("/"), "named.csv", csv_of(table().drop_columns("id").rename_columns(names)))
        for name in names[1:]:
            box = page.locator("#models").get_by_label(name)
            box.check()
            until(lambda name=name: text_of(page, "#totals") == f"{name}: 50 positives, 150 negatives", name)
            ready(page)
        assert page.locator("#better h3").count() == 1

    @pytest.mark.parametrize(
        ("name", "shown"), [("--x.csv", "./--x.csv"), ("-.csv", "./-.csv"), ("x.constructor", "x.constructor")]
    )
    def test_files_with_the_names_of_options(
        self, visit: Visit, root: Path, tmp_path: Path, name: str, shown: str
    ) -> None:
        page = loaded(visit("/"), name, csv_of(table()))
        (tmp_path / name).write_bytes(csv_of(table()))
        curl, command, _ = copies(page)
        assert f"@{shown} " in curl
        assert command.startswith(f"rocpr curves {shown} ")
        assert json.loads(run(curl, tmp_path, root))["positives"] == 50
        if name.endswith(".csv"):  # the command line knows a file by its suffix
            assert "positives     50\n" in run(command, tmp_path, root)

    def test_long_ones_are_cut_to_what_differs(self, visit: Visit) -> None:
        content = export(400, every=500).replace(b"sep=;\r\n", b"")
        for width in (1280, 380):
            page = loaded(visit("/", width=width), "export.csv", content)
            assert text_of(page, "#better h3").replace("\u2060", "").startswith("…2025… is better than …2024… by ")
            head = page.locator("#better th[title]")
            assert [each.get_attribute("title") for each in head.all()] == [OLD, NEW]
            legend = page.locator("#compared-roc text").all_text_contents()
            assert [text.replace("\u2060", "")[:9] for text in legend if "\xa0\xa0" in text] == [
                "1\xa0\xa0…2024…",
                "2\xa0\xa0…2025…",
            ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380, 320])
def test_own_data_can_be_read_by_everyone(visit: Visit, scheme: Any, width: int) -> None:
    page = loaded(visit("/", width=width, color_scheme=scheme), "export.csv", export(400, every=500))
    check_accessible(page)
    check_fits(page)
    tops = {name: (page.locator(name).bounding_box() or {})["y"] for name in ("#comparison", "#roc", "#slider")}
    assert min(tops, key=lambda name: tops[name]) == ("#roc" if width == 1280 else "#comparison")
    interval = page.locator("#better td span").first
    cell = interval.locator("..").bounding_box()
    box = interval.bounding_box()
    assert cell
    assert box
    assert (box["y"] > cell["y"] + 16) == (width != 1280)  # below the difference


def test_a_refusal_can_be_read_by_everyone(visit: Visit, said: list[str]) -> None:
    for width in (1280, 380):
        page = chosen(ready(visit("/", width=width)), "export.csv", export(200))
        until(page.locator("#offers button").count, "the offer")
        check_accessible(page)
        check_fits(page)
    said.clear()
