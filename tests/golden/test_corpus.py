"""The service answers recorded requests as it did: the same statuses, decisions and texts, numbers up to accuracy."""

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.operations import OPERATIONS
from service.settings import read_settings
from tests.golden.corpus.answers import answer_to, differences
from tests.golden.corpus.entries import FOLDER, recorded

SAMPLE = 8
"""The first command asks one request in this many."""

FILES = sorted(FOLDER.glob("*.jsonl"))


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_app(read_settings({})).test_client()


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_recorded_requests_get_the_same_answers(client: FlaskClient, path, *, runs_all: bool) -> None:
    entries = list(recorded(path))[:: 1 if runs_all else SAMPLE]
    found = {}
    for asked, given in entries:
        now = answer_to(client, asked)
        wrong = differences([given.status, given.content_type], [now.status, now.content_type])
        if wrong := wrong or differences(given.content, now.content):
            found[f"{asked.path} {asked.query} {asked.headers} {asked.body[:300]!r}"] = wrong[:3]
    assert found == {}
    assert entries


def test_every_operation_is_in_the_corpus() -> None:
    assert {path.stem for path in FILES} == OPERATIONS.keys()
