"""`rocpr columns`: what a table has, to choose from."""

from tests.cli.running import answered, run

TABLE = b"score,spam,when,empty\n0.9,yes,2024-01-31,\n0.4,no,2024-02-01,\n0.3,yes,2024-02-02,\n0.1,,2024-02-03,\n"


def test_columns_are_listed_with_their_first_values() -> None:
    done = run("columns", "-", "--format", "csv", given=TABLE)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "standard input",
        "",
        "  rows  4",
        "",
        "  column  type    values",
        "  score   number  0.9, 0.4, 0.3, ...",
        "  spam    text    yes, no",
        "  when    text    2024-01-31, 2024-02-01, 2024-02-02, ...",
        "  empty   null",
    ]


def test_json_has_the_whole_listing() -> None:
    assert run("columns", "-", "--format", "csv", "--json", given=TABLE).stdout_bytes == answered("columns", TABLE)
