"""Writes the contract at development time; the server ships and serves its files.

    python -m service.contract

writes openapi.yaml from the declarations of the operations, prose.yaml and examples/, and from that
openapi-clients.yaml, the contract for generated clients. Nothing imports this package but its tests.
"""
