"""Clients that wait for an answer, and what ends when they leave."""

import pytest

from service.web.passes import Client, ClientGone


def test_a_client_leaves_once_and_stops_what_is_under_way() -> None:
    client, stopped = Client(), []
    assert not client.gone
    client.stop_with(lambda: stopped.append("one"))
    client.stop_with(lambda: stopped.append("two"))
    for _ in range(2):
        client.leave()
        assert client.gone
        assert stopped == ["two"]


def test_a_client_stops_nothing_that_is_over() -> None:
    client, stopped = Client(), []
    client.stop_with(lambda: stopped.append("one"))
    client.stop_with(None)
    client.leave()
    assert stopped == []
    client.stop_with(None)


def test_a_client_that_has_gone_begins_nothing() -> None:
    client = Client()
    client.leave()
    with pytest.raises(ClientGone):
        client.stop_with(print)
