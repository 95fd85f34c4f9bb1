"""Between bytes and the domain. Knows no HTTP.

Three wings over problems, limits, media types and columns: formats (bytes to columns), requests (documents to domain
objects) and answers (results to bytes).
"""
