"""Sends every request of a Postman collection, as it was imported, and prints how many got 200.

python collection.py COLLECTION.json ADDRESS
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests


def requests_of(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The requests of a folder and of those in it."""
    for item in items:
        if "item" in item:
            yield from requests_of(item["item"])
        else:
            yield item["request"]


collection, address = json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2]
sent = 0
for request in requests_of(collection["item"]):
    query = [(each["key"], each["value"]) for each in request["url"].get("query", []) if not each.get("disabled")]
    headers = {each["key"]: each["value"] for each in request["header"] if not each.get("disabled")}
    body = request.get("body", {}).get("raw")
    url = "/".join([address, *request["url"]["path"]])
    answer = requests.request(request["method"], url, params=query, data=body, headers=headers, timeout=60)
    if answer.status_code != requests.codes.ok:
        sys.exit(f"{request['method']} {url}: {answer.status_code} {answer.text}")
    sent += 1
print(sent, "requests, each 200")
