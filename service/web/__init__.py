"""HTTP only: routes, body reading, negotiation, problems, health and gunicorn's worker; no curve is known here."""
