"""Families of bodies and queries that are expensive before they become a request; most are refused."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Context, Decimal
from itertools import cycle, islice

import numpy as np

from service.request import Request
from service.wire.formats.codings import CODINGS, compress
from tests.support.costs.families import (
    BIG_BODY_BYTES,
    LONGEST_QUERY,
    Family,
    asking,
    csv_family,
    query_family,
)

FULL = BIG_BODY_BYTES - 200
"""Bytes of content, leaving room for what surrounds it."""

SAMPLE = '"scores":[1,0],"labels":[1,0]'


def _repeated(
    operation: str, name: str, before: str, unit: str, after: str, *, most: int = FULL, sent_as: str = "identity"
) -> Family:
    """A body of one repeated unit, between a beginning and an end."""
    return Family(
        f"{operation}: JSON, {name}",
        lambda size: asking(operation, before + ",".join([unit] * size) + after, sent_as=sent_as),
        most // (len(unit.encode()) + 1),
    )


HALFWAY = f"{Context(prec=800).divide(Decimal(2**53 - 1), Decimal(2**1075)):e}"
"""A number of 767 digits, halfway between two neighbouring doubles."""

UNITS = {
    "empty objects": "{}",
    "empty lists": "[]",
    "nested objects": '{"a":' * 200 + "1" + "}" * 200,
    "nested lists": "[" * 200 + "1" + "]" * 200,
    "objects of a member": '{"a":1}',
    "short lists": "[1,1,1,1]",
    "nulls": "null",
    "strings": '"a"',
    "escapes": '"\\u00e4\\""',
    "integers that no double holds": "9007199254740993",
    "large integers": "9007199254740994",
    "long integers": "1" * 300,
    "long numbers": "0." + "1" * 300,
    "hard numbers": "2.2250738585072011e-308",
    "numbers of 20 digits": "12345678901234567891e280",
    "halfway numbers": HALFWAY,
    "infinities": "1e400",
    "digits": "1",
}


def body_families() -> Iterator[Family]:
    """JSON, CSV and queries."""
    for name, unit in UNITS.items():
        yield _repeated("curves", f"{name} as scores", '{"labels":[1,0],"scores":[', unit, "]}")
        yield _repeated("curves", f"{name} after a string", '{"labels":[1,0],"scores":["",', unit, "]}")
        yield _repeated("curves", f"{name} as thresholds", "{" + SAMPLE + ',"counts":{"threshold":[null,', unit, "]}}")
        for coding in CODINGS:
            many = {"most": BIG_BODY_BYTES - 200, "sent_as": coding}
            yield _repeated("curves", f"{name} as scores in {coding}", '{"labels":[1,0],"scores":[', unit, "]}", **many)
    yield from _compressed()
    for operation, field, units in (
        (
            "curves",
            "operating_points",
            ("{}", '{"metric":"aaaaaaaaaaaaaaaaaaaaaaaa","at":2,"b":1,"meti":0}', _members(20)),
        ),
        ("curves", "operating_points", ('{"metric":"jaccard","at":0.5}', '{"metric":"tpr_at_fpr","at":0.5}')),
        ("gates", "rules", ("{}", _members(20, "f_measurr" * 10), '{"metric":"' + "precision_at_recal" * 60 + '"}')),
        ("gates", "rules", ('{"metric":"roc","min":2,"max":9,"confidence":9,"at":"","prove":1,"b":2}',)),
        ("comparisons", "evaluations", ("{}", _members(20), '{"name":"a","scores":[1,0],"labels":[1,2],"weight":1}')),
    ):
        for unit in units:
            before = ("{" if operation == "comparisons" else "{" + SAMPLE + ",") + f'"{field}":['
            yield _repeated(operation, f"{field} {unit[:30]}", before, unit, "]}")
    yield Family("curves: JSON, members", lambda size: asking("curves", _members(size)), 20_000)
    twice = lambda size: asking("curves", _members(size)[:-1] + ',"0":1}')  # noqa: E731  # short
    yield Family("curves: JSON, a key twice", twice, 20_000)
    yield Family("curves: JSON, nested", lambda size: asking("curves", '{"a":' * size + "1" + "}" * size), 43_000)
    for name, labels in (("a", ('"a"', '"b"')), (1, ("1", "2")), (False, ("false", "true")), (7, ("7", "8"))):
        yield Family(f"curves: JSON, labels {labels}", lambda size, n=name, v=labels: _labelled(n, v, size), 60_000)
        third = (*labels, '"c"')
        yield Family(f"curves: JSON, labels {third}", lambda size, n=name, v=third: _labelled(n, v, size), 60_000)
    yield from _csv()
    yield from _queries()


def _compressed() -> Iterator[Family]:
    """Bodies of random bytes, which compress poorly, and of blanks, which compress well."""
    noise = np.random.default_rng(9).bytes(BIG_BODY_BYTES).hex()
    for coding in CODINGS:
        noisy = lambda size, c=coding: asking("curves", f'{{"x":"{noise[:size]}"}}', sent_as=c)  # noqa: E731  # short
        yield Family(f"curves: noise in {coding}", noisy, len(noise))
        blank = lambda size, c=coding: asking("curves", " " * size, sent_as=c)  # noqa: E731  # short
        yield Family(f"curves: blanks in {coding}", blank, BIG_BODY_BYTES)
    yield Family("curves: members of gzip", _members_of_gzip, BIG_BODY_BYTES // len(compress("gzip", b"")) - 10)
    yield Family("curves: blocks of gzip", _blocks_of_gzip, 8_000)
    lists = lambda size: asking("curves", '{"scores":[' + _lists(size) + "]}", sent_as="gzip")  # noqa: E731  # short
    yield Family("curves: lists in gzip", lists, 1_000)
    many = {"most": BIG_BODY_BYTES - 200, "sent_as": "gzip"}
    yield _repeated("curves", "halfway numbers, not lifted, in gzip", '{"scores":["",', HALFWAY, "]}", **many)


def _lists(count: int) -> str:
    return ",".join(["[" + "1," * 90 + "1]"] * count)


def _members(count: int, name: str = "") -> str:
    return "{" + ",".join(f'"{number:x}{name}":1' for number in range(count)) + "}"


def _members_of_gzip(size: int) -> Request:
    """A body after this many empty members of gzip."""
    request = asking("curves", "{" + SAMPLE + "}")
    members = compress("gzip", b"") * size + compress("gzip", request.body)
    return replace(request, body=members, content_encoding="gzip")


def _blocks_of_gzip(size: int) -> Request:
    """A gzip body of this many empty blocks, each with its own Huffman tables (RFC 1951, 3.2.7).

    Its 286 symbols have 8 bits or, from the 227th, 9; the 30 distances have 5 bits or, the last two, 4. How many bits
    each has is written in a third code: 1 bit for "the last one again, 3 to 6 times", 2 for 8, 3 for 9, 4 for 4 and 5.
    """
    codes = {16: "0", 8: "10", 9: "110", 4: "1110", 5: "1111"}

    def run(bits: int, times: int) -> str:
        again = "".join(codes[16] + f"{min(6, left) - 3:02b}"[::-1] for left in range(times - 1, 2, -6))
        return codes[bits] + again + codes[bits] * ((times - 1) % 6 if (times - 1) % 6 < 3 else 0)

    lengths = [{16: 1, 8: 2, 9: 3, 4: 4, 5: 4}.get(symbol, 0) for symbol in (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4)]
    third = "".join(f"{length:03b}"[::-1] for length in lengths)
    end = f"{(226 << 1) + 256 - 226:09b}"
    block = "001" + "10111" + "10111" + "0001" + third + run(8, 226) + run(9, 60) + run(5, 28) + run(4, 2) + end
    bits = block * size + "1" + block[1:]
    deflated = int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")
    return replace(asking("curves", ""), body=b"\x1f\x8b\x08" + bytes(7) + deflated + bytes(8), content_encoding="gzip")


def _labelled(positive_label: object, labels: tuple[str, ...], size: int):
    text = str(positive_label).lower() if not isinstance(positive_label, str) else f'"{positive_label}"'
    scores, column = ",".join(["1"] * (2 * size)), ",".join([*islice(cycle(labels[:2]), 2 * size - 1), labels[-1]])
    return asking("curves", f'{{"positive_label":{text},"scores":[{scores}],"labels":[{column}]}}')


ROWS = {
    "digits": "1,1\n0,0\n",
    "blanks": " 1 , 1 \n0 ,0\n",
    "words": "1,true\n0,FALSE\n",
    "integers above 2^53": "9007199254740992,1\n1,0\n",
    "numbers above 2^53": "9e15,1\n1e300,0\n",
    "quotes": '"1","1"\n"0","0"\n',
    "hard numbers": "2.2250738585072011e-308,1\n1,0\n",
    "blank lines": "\n\n\n1,1\n0,0\n",
    "letters": "ü,1\n1,0\n",
}


def _csv() -> Iterator[Family]:
    auc = ("include", "auc")
    for name, rows in ROWS.items():
        most = FULL // len(rows.encode())
        yield csv_family("curves", name, lambda size, r=rows: "scores,labels\n" + r * size, most, auc)
        yield csv_family(
            "curves", f"{name}, wrong", lambda size, r=rows: "scores,labels\n" + r * size + "x,x\n", most, auc
        )
    yield csv_family(
        "curves", "labels", lambda n: "scores,labels\n" + "1,a\n0,b\n" * n, 32_000, auc, ("positive_label", "a")
    )
    yield csv_family(
        "curves", "many labels", lambda n: "scores,labels\n" + "".join(f"1,{i}a\n" for i in range(n)), 28_000
    )
    yield csv_family(
        "curves",
        "columns",
        lambda n: ",".join(["scores", "labels", *["x"] * n]) + "\n" + "1" + ",1" * (n + 1) + "\n0" + ",0" * (n + 1),
        9_998,
    )
    yield csv_family("curves", "columns, none", lambda n: "a," * n + "\n", 130_000)
    yield csv_family("curves", "a long quote", lambda n: 'scores,labels,x\n1,1,"' + '""' * n + '"\n0,0,1\n', 130_000)
    for number in (2, 10, 50):
        names = ",".join(f"s{at}" for at in range(number))
        line = "1," * number + "1\n" + "0," * number + "0\n"
        make = lambda n, h=names, r=line: f"{h},labels\n" + r * n  # noqa: E731  # short
        yield csv_family("comparisons", f"{number} scores", make, FULL // len(line), ("scores", names))
    blanks = "," * LONGEST_QUERY
    yield csv_family("comparisons", "names and columns", lambda n: "a," * n + "labels\n1\n", 9_998, ("scores", blanks))


def _queries() -> Iterator[Family]:
    def repeated(operation: str, name: str, unit: str, before: str = "[", after: str = "]") -> Family:
        most = LONGEST_QUERY // (len(unit) + 1)
        return query_family(
            operation, f"{name} {unit[:30]}", lambda n: [(name, before + ",".join([unit] * n) + after)], most
        )

    yield repeated("curves", "thresholds", "1")
    yield repeated("curves", "include", "auc")
    yield repeated("curves", "interpolation", "0.1", '{"at_recall":[', "]}")
    yield repeated("curves", "interpolation", "3e-300", '{"at_recall":[', "]}")
    for unit in ("{}", '{"a":1}', '{"metric":"jaccard","at":0.5}', '{"metric":"tpr_at_fpr","at":0.3}'):
        yield repeated("curves", "operating_points", unit)
    yield repeated("tradeoffs", "at_lambda", "0.1")
    yield repeated("tradeoffs", "indices", '"jaccard"')
    for unit in ("{}", '{"metric":"jaccard","at":0.5,"min":0}', '{"metric":"roc","min":0,"confidence":0.9}'):
        yield repeated("gates", "rules", unit)
    yield query_family("curves", "parameters", lambda n: [(f"{i:x}", "") for i in range(n)], 1_900)
    yield query_family("curves", "brackets", lambda n: [("include", "[" * n + "]" * n)], 4_000)
    yield query_family("curves", "a long label", lambda n: [("positive_label", "x" * n)], LONGEST_QUERY)
