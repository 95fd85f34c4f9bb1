"""Requests that schemathesis generates from openapi.yaml, over HTTP; and bytes that are not HTTP, on raw sockets."""

import copy
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from tests.contract.document import document, evaluations
from tests.contract.table_bodies import TABLES
from tests.contract.test_schemathesis import BODIES, CONFIG, QUERIES, excluded_checks
from tests.e2e.wire import Connection, check_problem, request
from tests.support.attacks.found import Found
from tests.support.clients import Answer, Client, wrong_with
from tests.support.malformed_requests import CUT, problems
from tests.support.servers import Service

Strategy = st.SearchStrategy[schemathesis.Case[Any]]

RAW_LIMIT = 1_000_000
"""The ROCPR_MAX_BODY_BYTES for which the raw requests are written."""

AT_ONCE = 50
"""How many cases of a strategy are tried before the next one."""

MOST_MISSED = 50
"""The number of wrong answers after which no more requests are sent."""


def strategies(contract: schemathesis.BaseSchema) -> dict[str, Strategy]:
    """{what: cases}: operations as their schemas allow and forbid, tables, bodies that fit together."""
    modes = {"right": GenerationMode.POSITIVE, "wrong": GenerationMode.NEGATIVE}
    found: dict[str, Strategy] = {}
    for one in contract.get_all_operations():
        operation = one.ok()
        for name, mode in modes.items():
            found[f"{operation.method} {operation.path} {name}"] = operation.as_strategy(generation_mode=mode)
    for evaluation in evaluations():
        name = evaluation.name
        operation = contract.find_operation_by_id(name)
        found[f"{name} that fits together"] = BODIES[name].map(
            lambda body, made=operation: made.Case(body=body, media_type="application/json")
        )
        for media_type, tables in TABLES.items():
            found[f"{name} of {media_type}"] = st.builds(
                lambda table, query, made=operation, kind=media_type: made.Case(
                    body=table, media_type=kind, query=dict(query)
                ),
                tables,
                st.sampled_from(QUERIES.get(name, [{}])),
            )
    return found


def send_cases(service: Service, wanted: int, tell: Callable[[str], None] = lambda _: None) -> Found:
    """Send this many cases; each answer is checked against the document."""
    contract = schemathesis.openapi.from_dict(copy.deepcopy(document()), config=CONFIG)
    found, statuses = Found(), Counter[int]()
    workers = service.workers()
    known = strategies(contract)
    turns = itertools.count()
    with requests.Session() as session:
        while statuses.total() < wanted and len(found.missed) < MOST_MISSED:
            turn = next(turns)
            for what, cases in list(known.items()):
                tell(f"schemathesis: {statuses.total():,} of {wanted:,}, {what}")
                times = min(AT_ONCE, wanted - statuses.total())
                if times <= 0:
                    break
                try:
                    _send(cases, turn, times, _sender(service.port, session, statuses))
                except Unsatisfiable:  # an operation without parameters has hardly any invalid requests
                    del known[what]
                except Exception as error:  # noqa: BLE001  # whatever is wrong with an answer, or if there is none
                    found.missed.append(f"{what}: {' '.join(str(error).split())[:600]}")
    found.figures = {"schemathesis cases": f"{statuses.total():,}"}
    found.figures |= {f"cases, {status}": f"{times:,}" for status, times in sorted(statuses.items())}
    wrong = {status: times for status, times in statuses.items() if status >= 500 and status != 503}
    found.require(not wrong, f"answers {wrong}")
    found.require(service.workers() == workers, "a worker died")
    return found


def _sender(port: int, session: requests.Session, statuses: Counter[int]) -> Callable[[schemathesis.Case[Any]], None]:
    def send(case: schemathesis.Case[Any]) -> None:
        response = case.call(base_url=f"http://127.0.0.1:{port}", session=session)
        statuses[response.status_code] += 1
        if response.status_code >= 400 and case.method != "HEAD":
            headers = {name: values[0] for name, values in response.headers.items()}
            why = wrong_with(Answer(response.status_code, headers, response.content))
            assert not why, why
        case.validate_response(response, excluded_checks=excluded_checks(case))

    return send


def _send(cases: Strategy, turn: int, times: int, send: Callable[[schemathesis.Case[Any]], None]) -> None:
    @seed(turn)
    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def each(case: schemathesis.Case[Any]) -> None:
        send(case)

    each()


def send_raw(service: Service, body_bytes: int) -> Found:
    """Send invalid or incomplete HTTP, each on a separate connection; the server must still serve after each.

    `body_bytes` is the server's longest body.
    """
    found = Found()
    workers = service.workers()
    refused = problems(body_bytes)
    length = request("POST", "/v1/curves", Content_Type="application/json", Content_Length=str(body_bytes + 1))
    refused["length over the limit"] = (length, "body_too_large")
    cut = {name: (data, "incomplete_body") for name, data in CUT.items()}
    for name, (data, code) in {**refused, **cut}.items():
        try:
            with Connection(service.port) as connection:
                connection.send(data)
                if name in cut:
                    connection.half_close()
                check_problem(connection.read(), code, closes=True)
                if name not in cut:
                    connection.half_close()
                assert connection.is_closed()
            with Client(service.port, timeout=60) as client:
                assert client.ask("GET", "/health/live").status == 200
        except (AssertionError, OSError, ValueError) as error:
            found.missed.append(f"{name}: {error!r}"[:300])
    found.figures = {"raw requests": str(len(refused) + len(cut))}
    found.require(service.workers() == workers, "a worker died")
    return found
