"""Writes documents of the contract at development time; the server ships and serves them as files.

    python -m service.contract

writes openapi-clients.yaml, the contract for generated clients, from openapi.yaml, which is written by hand. Nothing
imports this package but its tests.
"""
