"""`python -m tests.golden.corpus.record`: record the corpus again, when answers change on purpose.

It runs the tests of what is answered, keeps all of their requests that are short, chooses those that have what few
others have (an option, a format, a kind of value, a refusal, a part of an answer), asks the application, and writes a
file for each operation. Read what `git diff` then shows: it is what changes for users. With the name of an operation it
runs the tests of that one, `tests/test_NAME_answer.py` and the refusals, and writes only its file. With `--again` it
asks the recorded requests again and replaces only the answers that differ.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from flask.testing import FlaskClient

import service.answer as answering
from service.app import create_app
from service.environment import prepare_process
from service.request import Answer, Request
from service.settings import read_settings
from service.wire.media_types import PNG
from service.wire.problems import PROBLEM_JSON
from tests.golden.corpus.answers import answer_to, differences
from tests.golden.corpus.entries import FOLDER, Asked, Given, recorded, written

MOST_ANSWERED, MOST_REFUSED = 1_300, 1_300
LONGEST_BODY, LONGEST_ANSWER = 4_000, 12_000
OFTEN = 3
"""Each feature is kept in up to this many requests."""

TESTS = ["tests/wire", "tests/refusals", "tests/contract", "tests/cli", "tests/golden", "tests/charts"]


class Recorder:
    """A plugin for pytest that keeps the requests of tests."""

    def __init__(self) -> None:
        self.asked: dict[int, Asked] = {}
        self._seen: set[int] = set()
        self._answer = answering.answer
        answering.answer = self.answer  # before tests import it

    def answer(self, request: Request, *arguments: Any, **named: Any) -> Answer:
        """Keep a short request, and answer it."""
        body = request.body
        if isinstance(body, bytes) and len(body) <= LONGEST_BODY and not request.datasets and request.accept != PNG:
            self.keep(request, body)
        return self._answer(request, *arguments, **named)

    def keep(self, request: Request, body: bytes) -> None:
        query = [[str(each) for each in pair] for pair in request.parameters]
        if any("\ud800" <= character <= "\udfff" for pair in query for text in pair for character in text):
            return  # a test wrote what no client can send
        path = f"/v1/{request.operation}"
        coding = "" if request.content_encoding == "identity" else request.content_encoding
        asked = Asked(path, query, request.content_type, coding, request.accept, body)
        key = hash((asked.path, str(query), asked.content_type, coding, asked.accept, body))
        if key not in self._seen:
            self._seen.add(key)
            self.asked[key] = asked


def features(asked: Asked, given: Given) -> Iterator[str]:
    """What a request and its answer have that others may not have."""
    yield f"{asked.path} {asked.content_type} {asked.content_encoding}"
    yield f"{asked.path} {asked.accept} {given.status}"
    for name, value in asked.query:
        yield f"{asked.path} {name} {asked.content_type}"
        yield f"{name}={value}"
    content = given.content
    if _is_refused(given):
        yield f"{asked.path} {content['type']} {asked.content_type}"
        yield _shape(content.get("detail", ""))
        for error in content.get("errors", []):
            yield f"{asked.path} {error['code']} {_shape(error['pointer'])}"
            yield _shape(error["detail"])
    elif isinstance(content, dict):
        for warning in content.get("warnings") or []:
            yield f"{asked.path} {_shape(json.dumps(warning))}"
        for place in _places(content):
            yield f"{asked.path} answers {place}"
    if asked.content_type.endswith("json"):
        try:
            document = json.loads(asked.body)
        except ValueError:
            return
        for place in _places(document):
            yield f"{asked.path} {place}"


def _is_refused(given: Given) -> bool:
    return given.content_type == PROBLEM_JSON


def _shape(text: str) -> str:
    return re.sub(r'"[^"]*"|\d+', "#", text)


def _places(value: Any, place: str = "", depth: int = 0) -> Iterator[str]:
    yield f"{place}:{type(value).__name__}"
    if depth < 4 and isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, f"{place}/{key}", depth + 1)
    elif depth < 4 and isinstance(value, list):
        for each in value[:3]:
            yield from _places(each, f"{place}/#", depth + 1)
        if value and all(isinstance(each, str) for each in value):
            yield f"{place}={','.join(value[:3])}"


def chosen(candidates: list[tuple[Asked, Given]], most: int) -> list[tuple[Asked, Given]]:
    """Those that have what few others have, the shortest first."""
    candidates = sorted(candidates, key=lambda each: len(each[0].body) + len(json.dumps(each[1].content)))
    features_of = {place: set(features(*each)) for place, each in enumerate(candidates)}
    seen: Counter[str] = Counter()
    kept: list[int] = []
    for times in range(1, OFTEN + 1):
        for place, has in list(features_of.items()):
            if any(seen[feature] < times for feature in has) and len(kept) < most:
                seen.update(features_of.pop(place))
                kept.append(place)
    return [candidates[place] for place in kept]


def answered(client: FlaskClient, requests: list[Asked]) -> Iterator[tuple[Asked, Given]]:
    """The requests that the application answers within the longest answer."""
    for asked in requests:
        given = answer_to(client, asked)
        if given.status < 500 and len(json.dumps(given.content)) <= LONGEST_ANSWER:
            yield asked, given


def record_again() -> int:
    """Replace the answers of recorded requests that differ."""
    client = create_app(read_settings({})).test_client()
    for path in sorted(FOLDER.glob("*.jsonl")):
        entries, changed = [], 0
        for asked, given in recorded(path):
            now = answer_to(client, asked)
            differs = (given.status, given.content_type) != (now.status, now.content_type)
            differs = differs or bool(differences(given.content, now.content))
            entries.append((asked, now if differs else given))
            changed += differs
        if changed:
            written(entries, path)
        print(f"{path.stem}: {changed} of {len(entries)} answers differ")
    return 0


def main(names: Sequence[str]) -> int:
    """Record the corpus, or that of some operations."""
    recorder = Recorder()
    top = [*TESTS, *sorted(str(path) for path in (FOLDER.parents[1]).glob("test_*.py"))]
    of_some = ["tests/refusals", *(f"tests/test_{name}_answer.py" for name in names)]
    tests = of_some if names else top
    status = pytest.main(["-q", "-p", "no:cacheprovider", "--deselect=tests/golden/test_corpus.py", *tests])
    client = create_app(read_settings({})).test_client()
    found = list(answered(client, list(recorder.asked.values())))
    refused = [each for each in found if _is_refused(each[1])]
    kept = chosen([each for each in found if not _is_refused(each[1])], MOST_ANSWERED) + chosen(refused, MOST_REFUSED)
    by_operation: dict[str, list[tuple[Asked, Given]]] = defaultdict(list)
    for asked, given in kept:
        by_operation[asked.path.rpartition("/")[2]].append((asked, given))
    for name in sorted(names or by_operation):
        entries = by_operation[name]
        written(sorted(entries, key=lambda each: (each[1].status, str(each[0]))), FOLDER / f"{name}.jsonl")
        print(f"{name}: {len(entries)} requests")
    print(f"{len(kept)} of {len(recorder.asked)}")
    return int(status)


if __name__ == "__main__":
    prepare_process()
    sys.exit(record_again() if "--again" in sys.argv else main(sys.argv[1:]))
