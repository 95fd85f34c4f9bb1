"""A result as a picture: SVG text with planes, axes and a legend, one file a chart, and a curve as text.

Knows results, nothing of bytes or HTTP.
"""
