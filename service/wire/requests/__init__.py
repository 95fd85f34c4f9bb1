"""From documents to domain objects: fields, faults, one file of schemas an operation, and a request's work."""
