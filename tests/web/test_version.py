"""/version and the names of health; what the answer for an unknown path says."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service import extras
from service.app import create_app
from service.settings import read_settings
from service.web import version as module

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_version(client: FlaskClient) -> None:
    answer = client.get("/version")
    assert (answer.status_code, answer.content_type) == (200, "application/json")
    assert {"name", "version", "commit", "limits", "formats", "extras"} == set(answer.json)
    assert (answer.json["name"], answer.json["version"]) == ("rocpr", version("rocpr"))
    assert answer.json["limits"]["max_body_bytes"] == 1000
    assert answer.json["formats"]["requests"][:2] == ["application/json", "text/csv"]
    assert "text/markdown" in answer.json["formats"]["answers"]["gates"]
    assert answer.json["formats"]["codings"] == ["zstd", "gzip"]
    assert isinstance(answer.json["extras"], list)


def test_a_commit_that_is_set_is_named() -> None:
    client = create_app(read_settings({"ROCPR_COMMIT": COMMIT})).test_client()
    assert client.get("/version").json["commit"] == COMMIT


def test_the_commit_of_a_checkout(tmp_path: Path) -> None:
    assert module._commit_of(tmp_path) is None
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert module._commit_of(tmp_path) is None
    (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    assert module._commit_of(tmp_path) == COMMIT
    (git / "HEAD").write_text(f"{COMMIT[::-1]}\n")
    assert module._commit_of(tmp_path) == COMMIT[::-1]
    (git / "HEAD").write_text("anything else")
    assert module._commit_of(tmp_path) is None


class Distribution:
    """A package with extras, and what pip recorded about its origin."""

    requires = (
        "numpy",
        'flask; python_version < "4"',
        'orjson; extra == "there"',
        'numpy>=1; extra == "there"',
        'orjson; extra == "half"',
        'no-such-package-here; extra == "half"',
    )

    def read_text(self, _name: str) -> str:
        return json.dumps({"url": "x", "vcs_info": {"vcs": "git", "commit_id": COMMIT}})


def test_extras_of_which_everything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = extras.distribution
    for each in (extras, module):
        monkeypatch.setattr(each, "distribution", lambda name: Distribution() if name == "rocpr" else real(name))
    assert extras.installed_extras() == {"there"}
    assert module._installed_commit() == COMMIT


@pytest.mark.parametrize("path", ["/health", "/healthz", "/health/live"])
def test_health_has_the_names_that_supervisors_try(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/v1/curve", "/v1/curves"),
        ("/curves", "/v1/curves"),
        ("/v1/curves/", "/v1/curves"),
        ("/api/v1/gates", "/v1/gates"),
        ("/openapi", "/openapi.yaml"),
        ("/guide/format", "/guide/formats"),
        ("/healthz/", "/healthz"),
        ("/metric", "/metrics"),
    ],
)
def test_a_404_names_the_nearest_path(client: FlaskClient, path: str, near: str) -> None:
    answer = client.get(path)
    detail = answer.get_json(force=True)["detail"]
    assert (answer.status_code, detail) == (404, f"There is nothing at this path; did you mean {near}?")


def test_a_404_that_is_near_nothing_names_the_documentation(client: FlaskClient) -> None:
    for path in ("/nothing-of-the-kind", "/" + "x" * 5000):
        assert "/docs lists" in client.get(path).get_json(force=True)["detail"]


def test_a_405_says_what_the_path_takes(client: FlaskClient) -> None:
    assert client.get("/v1/curves").get_json(force=True)["detail"] == "This path takes OPTIONS, POST."
