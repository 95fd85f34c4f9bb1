"""Bodies that are wrong in every way we can think of: each is refused, and nothing breaks."""

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlencode

from service.wire.formats.codings import IDENTITY
from service.wire.media_types import CSV, JSON
from tests.properties.corruptions import corrupted
from tests.properties.right_bodies import Body, right_bodies
from tests.support.attacks.found import Found
from tests.support.clients import LOST, Client, wrong_with
from tests.support.servers import Service

CLIENTS = 4
STATUSES = frozenset({200, 400, 413, 415, 422, 503})

JSON_TOKENS = (
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    '"scores"',
    '"labels"',
    '"counts"',
    '"include"',
    "1",
    "0",
    "-0",
    "-",
    "01",
    "1.",
    ".5",
    "+1",
    "1e999",
    "-1e999",
    "1e-999",
    "NaN",
    "Infinity",
    "-Infinity",
    "null",
    "true",
    "false",
    "nul",
    "True",
    "'a'",
    "0x1",
    "1_000",
    "9" * 400,
    "1" + "0" * 5000,
    '"\\ud800"',
    '"\\x"',
    '"\\u12"',
    '"\0"',
    '"\n"',
    "\ufeff",
    "//",
    "/* */",
    "\u2028",
    "\0",
    "[" * 2000,
    '{"a":' * 2000,
    '"' + "a" * 5000 + '"',
    "\u00e9",
)
JSON_TEXTS = (
    b"",
    b" ",
    b"null",
    b"0",
    b'""',
    b"[]",
    b"{}",
    b"{",
    b'{"scores"',
    b'{"scores":[1,2],"labels":[0,1]',
    b"\xff\xfe{\0}\0",
    b"\xef\xbb\xbf{}",
    b'{"scores":[1],"scores":[2],"labels":[1]}',
    b'{"scores":[1,2],"labels":[0,1]}{}',
    b"\xff",
    b"\xed\xa0\x80",
    b'{"scores":[[1],[0]],"labels":[0,1]}',
    b'{"scores":{"0":1},"labels":[0]}',
    b'{"scores":"1,2","labels":[0,1]}',
    b'{"scores":[1,2],"labels":[0,1],"include":"auc"}',
    b'{"scores":[1,2],"labels":[0,1],"include":[["auc"]]}',
    b'{"__proto__":{},"scores":[1],"labels":[1]}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"[" * 100_000 + b"]" * 100_000,
)
CSV_CELLS = (
    "1",
    "0",
    "",
    " ",
    '"',
    '""',
    '"1"',
    '"1',
    '1"',
    "1;0",
    "\t",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "0x1",
    "1,000",
    "=1+1",
    "@SUM(A1)",
    "scores",
    "labels",
    "\0",
    "\ufeff",
    "\u00e9",
    "9" * 400,
    "a" * 5000,
    '"a\nb"',
    "true",
    "TRUE",
    "null",
)


RULES = '[{"metric": "roc", "min": 0.5}]'


def broken_json(chance: random.Random, option: str) -> bytes:
    """A text of JSON's own pieces, or one that is nearly right."""
    if chance.random() < 0.2:
        return chance.choice(JSON_TEXTS)
    if chance.random() < 0.5:
        return "".join(chance.choices(JSON_TOKENS, k=chance.randrange(1, 30))).encode()
    text = f'{{"scores": [0.9, 0.8, 0.4, 0.2], "labels": [1, 0, 1, 0], {option}}}'
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(text))
        text = text[:place] + chance.choice(JSON_TOKENS) + text[place + chance.choice([0, 1, 3]) :]
    return text.encode()


def broken_csv(chance: random.Random) -> bytes:
    """Rows of odd cells, often below a valid header, in several encodings."""
    header = chance.choice(["scores,labels", "scores,labels", "scores,labels,weights", "labels", "scores,scores", ""])
    ends = chance.choice(["\n", "\r\n", "\r", "\n\n", ""])
    rows = [
        ",".join(chance.choices(CSV_CELLS, k=chance.choice([1, 2, 2, 2, 3, 50])))
        for _ in range(chance.choice([0, 1, 3, 40]))
    ]
    return ends.join([header, *rows]).encode(chance.choice(["utf-8", "utf-8", "utf-16", "utf-32"]))


Sent = tuple[str, bytes, dict[str, str]]
"""(target, body, headers)"""


def case(index: int, right: list[Body]) -> Sent:
    """The body of an index, and how it is sent."""
    chance = random.Random(index)
    kind = index % 4
    operation = chance.choice(["curves", "curves", "tradeoffs", "comparisons", "gates"])
    if kind == 0:
        option = f'"rules": {RULES}' if operation == "gates" else '"include": ["auc"]'
        return f"/v1/{operation}", broken_json(chance, option), {"Content_Type": JSON}
    if kind == 1:
        rules = f"&rules={quote(RULES)}" if operation == "gates" else ""
        return f"/v1/{operation}?scores=scores&labels=labels{rules}", broken_csv(chance), {"Content_Type": CSV}
    body, coding, content = corrupted(index, right)
    query = urlencode(body.query)
    headers = {"Content_Type": body.media_type} | ({} if coding == IDENTITY else {"Content_Encoding": coding})
    return f"/v1/{body.operation}?{query}", content, headers


def send_all(service: Service, first: int, last: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Send the bodies first..last - 1 over a few kept connections."""
    right = list(right_bodies())
    found = Found()
    workers = service.workers()
    statuses: Counter[int] = Counter()

    def part(start: int) -> list[str]:
        wrong = []
        with Client(service.port) as client:
            for index in range(first + start, last, CLIENTS):
                target, body, headers = case(index, right)
                try:
                    answer = client.ask("POST", target, body, **headers)
                except LOST as error:
                    wrong.append(f"body {index}: no answer, {error!r}")
                    continue
                statuses[answer.status] += 1
                if why := wrong_with(answer):
                    wrong.append(f"body {index}: {why}")
                elif answer.status not in STATUSES:
                    wrong.append(f"body {index}: {answer.status}")
                if start == 0 and index % 1000 == first % 1000:
                    tell(f"malformed bodies: {index - first:,} of {last - first:,}")
        return wrong

    with ThreadPoolExecutor(CLIENTS) as pool:
        for wrong in pool.map(part, range(CLIENTS)):
            found.missed += wrong
    found.figures = {"malformed bodies": f"{last - first:,}"}
    found.figures |= {f"malformed, {status}": f"{times:,}" for status, times in sorted(statuses.items())}
    found.require(service.workers() == workers, "a worker died")
    for reason in ("died", "deadline"):
        ended = service.metric(f'rocpr_helper_deaths_total{{reason="{reason}"}}')
        found.require(ended == 0, f"{ended:g} helpers ended: {reason}")
    found.require(not service.failures(), f"the log: {service.failures()[:1]}")
    return found
