"""What an attack on a server found."""

from dataclasses import dataclass, field


@dataclass
class Found:
    """The findings of a row.

    figures   {what: number with its unit}, in the order of the report.
    missed    why the row misses its goal; empty if it does not.
    """

    done: str = ""
    figures: dict[str, str] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    left_out: str = ""

    def require(self, holds: bool, otherwise: str) -> None:  # noqa: FBT001  # the one thing that it is about
        """Record a miss unless a condition holds."""
        if not holds:
            self.missed.append(otherwise)

    def take(self, other: "Found") -> None:
        """Add the findings of another part of the row."""
        assert not self.figures.keys() & other.figures.keys(), "two figures of one name"
        self.figures |= other.figures
        self.missed += other.missed
