"""HTTP only: routes, body reading, negotiation, problems, health and gunicorn's worker. Knows nothing of curves."""
