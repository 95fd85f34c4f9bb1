"""A recorded request with its answer, as a line of a file."""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Asked:
    """What a client sends: to `path` with the parameters of `query`; headers without an empty one."""

    path: str
    query: list[list[str]]
    content_type: str
    content_encoding: str
    accept: str
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        named = {"Content-Type": self.content_type, "Content-Encoding": self.content_encoding, "Accept": self.accept}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True)
class Given:
    """What it got; `content` is as answers.content_of makes it."""

    status: int
    content_type: str
    content: Any


def written(entries: list[tuple[Asked, Given]], path: Path) -> None:
    """Write entries to a file, one a line."""
    lines = [json.dumps([_in_text(asked), asdict(given)], ensure_ascii=False) for asked, given in entries]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def recorded(path: Path) -> Iterator[tuple[Asked, Given]]:
    """The entries of a file."""
    for line in path.read_text("utf-8").split("\n")[:-1]:
        asked, given = json.loads(line)
        body = asked["body"]
        asked["body"] = base64.b64decode(body["base64"]) if isinstance(body, dict) else body.encode()
        yield Asked(**asked), Given(**given)


def _in_text(asked: Asked) -> dict[str, Any]:
    try:
        body: Any = asked.body.decode()
    except UnicodeDecodeError:
        body = {"base64": base64.b64encode(asked.body).decode()}
    return asdict(asked) | {"body": body}
