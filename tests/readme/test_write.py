"""The program that writes the output of commands into the documents."""

import json

import pytest

from tests.readme import write
from tests.readme.commands import Example, examples
from tests.readme.documents import DOCUMENTS, text_of
from tests.readme.write import laid_out, updated

PAGE = """\
# A page

```sh
rocpr curves a.csv
```

```json
{"positives": 3, "auc": {"roc": 0.5}}
```

```sh
rocpr curves b.csv
```

It prints:

```text
old
```

The end.
"""


def of_page(monkeypatch: pytest.MonkeyPatch, printed: dict[str, str]) -> str:
    """The page, if its commands print this."""
    monkeypatch.setattr("tests.readme.commands.text_of", lambda _: PAGE)
    monkeypatch.setattr(write, "text_of", lambda _: PAGE)
    return updated("page.md", lambda example: printed[example.command])


def test_what_has_changed_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {
        "positives": 3,
        "auc": {"roc": 0.5, "new": None},
        "warnings": [],
        "rows": [[1, 2], []],
        "more": [{"é": 1}],
    }
    now = of_page(monkeypatch, {"rocpr curves a.csv": json.dumps(answer), "rocpr curves b.csv": "old\nnew\n"})
    shown = """{
  "positives": 3,
  "auc": {
    "roc": 0.5,
    "new": null
  },
  "warnings": [],
  "rows": [[1, 2], []],
  "more": [
    {
      "é": 1
    }
  ]
}
"""
    assert now == PAGE.replace('{"positives": 3, "auc": {"roc": 0.5}}\n', shown).replace("old\n", "old\nnew\n")


def test_what_still_holds_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {"rocpr curves a.csv": '{"positives":3,"auc":{"roc":0.5}}', "rocpr curves b.csv": "old\n"}
    assert of_page(monkeypatch, same) == PAGE


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_block_of_a_document_is_found(document: str) -> None:
    asked: list[Example] = []

    def as_shown(example: Example) -> str:
        asked.append(example)
        return example.output

    assert updated(document, as_shown) == text_of(document)
    assert asked == examples(document)
    for example in asked:
        if example.language == "json":
            assert json.loads(laid_out(json.loads(example.output))) == json.loads(example.output)
