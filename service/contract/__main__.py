"""Writes openapi-clients.yaml; run it after a change of openapi.yaml or of a problem's status."""

from pathlib import Path
from typing import Any

import yaml

from service.contract.clients import Tree, clients_contract
from service.settings import shipped_file

CLIENTS_FILE = Path(__file__).with_name("openapi-clients.yaml")
_WIDTH = 120


class _Dumper(yaml.CSafeDumper):
    """Writes no anchors, which some parsers lack."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002  # whatever it is
        return True


def clients_yaml() -> str:
    """The contract for generated clients as it should be, in YAML."""
    contract: Tree = yaml.load(shipped_file("openapi.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    text: str = yaml.dump(clients_contract(contract), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text


if __name__ == "__main__":
    CLIENTS_FILE.write_text(clients_yaml(), encoding="utf-8")
