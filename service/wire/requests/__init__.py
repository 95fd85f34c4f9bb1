"""From documents to domain objects: fields, faults, a file of schemas for each operation, and a request's work."""
