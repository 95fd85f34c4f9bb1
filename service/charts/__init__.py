"""A result as a picture: a file for each chart makes a figure, which is drawn as SVG text or in characters.

Knows results, nothing of bytes or HTTP.
"""
