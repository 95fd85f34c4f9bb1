"""A result as a picture: SVG text with planes, axes and a legend, a file for each chart; and curves as characters.

Knows results, nothing of bytes or HTTP.
"""
