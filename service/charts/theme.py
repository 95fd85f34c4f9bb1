"""The colours of pictures, light and dark.

Hues are those of Okabe & Ito (2008), distinguishable with any colour vision, darkened on white and lightened on black
until each has a contrast of 4.5 with the paper. Nothing is distinguished by colour alone.
"""

COLOURS = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "soft": ("#59636e", "#9aa4af"),
    "grid": ("#e4e8ec", "#262c34"),
    "good": ("#dff2e6", "#10351f"),
    "passed": ("#1a7f37", "#4cc26a"),
    "failed": ("#c8202c", "#ff7b72"),
    "undecided": ("#8a5a00", "#e0a82e"),
    "s0": ("#0067a5", "#58b0ee"),
    "s1": ("#b24a00", "#f0934e"),
    "s2": ("#00775a", "#3fc79f"),
    "s3": ("#a03c78", "#e596c5"),
    "s4": ("#7a6000", "#e3bd45"),
    "s5": ("#00727f", "#5fd0de"),
    "s6": ("#454c55", "#bcc4cd"),
    "s7": ("#6448b8", "#b0a2f5"),
}
"""{name: its colour on white, and on black}; s0 to s7 are the series. In a picture each is a class of CSS."""

HUES = 8
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 3", "9 3 2 3 2 3", "1 3")
"""Eight dashes in eight hues give more combinations than a comparison has curves."""

STYLE = "@media (prefers-color-scheme:dark){%s}" % "".join(  # noqa: UP031  # braces of CSS
    f".{name}{{color:{dark}}}" for name, (_, dark) in COLOURS.items()
)
"""The style of the theme `auto`: dark colours for readers who prefer them. It is the same in every picture."""


def colour(name: str, theme: str) -> str:
    """The colour of a name; for the theme `auto` the light one, which STYLE overrides."""
    light, dark = COLOURS[name]
    return dark if theme == "dark" else light


def hue(series: int) -> str:
    """The name of the colour of a series."""
    return f"s{series % HUES}"


def dash(series: int) -> str:
    """The dash of a series; it differs between neighbours, and between series of the same hue."""
    return DASHES[(series + series // HUES) % len(DASHES)]
