"""The schemas of further tables of curves: bands, bins of probabilities, gains, and net benefit.

A loaded schema is the domain's object. Knows their options; nothing of bytes.
"""

from typing import Any, ClassVar

import numpy as np
from marshmallow import post_load

from service.curves.gains import GainsOptions
from service.curves.net_benefit import NetBenefitOptions
from service.curves.reliability import BINNINGS, ReliabilityOptions
from service.inference.bands import BAND_KINDS, BandOptions
from service.wire.requests.column_fields import NumberColumn
from service.wire.requests.fields import Choice, Number, Whole, invalid
from service.wire.requests.object_schemas import ObjectSchema

MOST_SHARES = 1000
"""The most shares, thresholds or places of gains, net benefit or bands in one request."""


class ReliabilitySchema(ObjectSchema):
    """The bins of probabilities."""

    component = "ReliabilityOptions"
    about = (
        "Asks for the table `reliability` and says how to divide probabilities into bins; `{}` takes all defaults. "
        "`ece` in `statistics` has the same bins."
    )
    example: ClassVar = {"bins": 10, "by": "mass"}
    shorthand = "10,mass"

    bins = Whole("How many bins; 15 by default.", minimum=1, maximum=100)
    by = Choice(
        BINNINGS,
        "`width` for bins of equal width, k / bins up to (k + 1) / bins, of which the last includes 1; `mass` for bins "
        "of about equal mass, where equal scores stay together. `width` by default.",
    )

    def from_text(self, text: str, *, decimal_comma: bool) -> object:
        """Read a number of bins, what divides them, or both."""
        read: dict[str, object] = {}
        for word in map(str.strip, text.split(",")):
            read |= self.field_of_text("bins" if word.isdecimal() else "by", word, decimal_comma=decimal_comma)
        return read

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> ReliabilityOptions:
        """Build the options; {} requests the defaults."""
        return ReliabilityOptions(**data)


class BandSchema(ObjectSchema):
    """The band around the curves."""

    component = "BandOptions"
    about = (
        "Asks for the tables `roc_band` and `pr_band`, confidence bands of both curves; `{}` takes all defaults. Their "
        "level and their seed are those of `intervals`, or 0.95 and 0. Needs exact groups, and no soft labels."
    )
    example: ClassVar = {"kind": "simultaneous"}
    shorthand = "simultaneous"

    kind = Choice(
        BAND_KINDS,
        "`pointwise`, an interval at each place, or `simultaneous`, a band that holds the whole true curve; "
        "`pointwise` by default.",
    )
    at = NumberColumn(
        "The false positive rates of `roc_band` and the recalls of `pr_band`, at most 1,000; by default 0, 0.01, .. 1.",
        minimum=0,
        maximum=1,
    )

    def from_text(self, text: str, *, decimal_comma: bool) -> object:  # noqa: ARG002  # it has no numbers
        """Read a kind."""
        return {"kind": text}

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> BandOptions:
        """Build the options; {} requests the defaults."""
        places = data.get("at")
        if places is not None and not 1 <= places.size <= MOST_SHARES:
            raise invalid("wrong_length", f"There are {places.size} places; give 1 to {MOST_SHARES}.", "at")
        return BandOptions(**data)


class GainsSchema(ObjectSchema):
    """The shares of all examples at which parts end."""

    component = "GainsOptions"
    about = "Asks for the table `gains`; `{}` takes ten equal parts."
    example: ClassVar = {"shares": [0.01, 0.05, 0.1, 1]}
    shorthand = "10"

    parts = Whole("How many equal parts; 10 by default.", minimum=1, maximum=MOST_SHARES, example=20)
    shares = NumberColumn(
        "Where each part ends, as a share of all examples: rising, above 0 and at most 1, at most 1,000 of them. "
        "Without them, parts are equal.",
        exclusive_minimum=0,
        maximum=1,
    )

    def from_text(self, text: str, *, decimal_comma: bool) -> object:
        """Read how many parts, or shares."""
        return self.field_of_text("parts" if text.isdecimal() else "shares", text, decimal_comma=decimal_comma)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> GainsOptions:
        """Build the options; {} requests the defaults."""
        shares = data.get("shares")
        if shares is not None:
            if "parts" in data:
                raise invalid("exclusive", "Give parts or shares, not both.", "parts")
            if not 1 <= shares.size <= MOST_SHARES:
                raise invalid("wrong_length", f"There are {shares.size} shares; give 1 to {MOST_SHARES}.", "shares")
            if np.any(np.diff(shares) <= 0):
                raise invalid("not_rising", "Shares must rise.", "shares")
        return GainsOptions(**data)


class NetBenefitSchema(ObjectSchema):
    """The probabilities to act from, and the prevalence."""

    component = "NetBenefitOptions"
    about = "Asks for the table `net_benefit`; `{}` takes every default. Scores must be between 0 and 1."
    example: ClassVar = {"thresholds": [0.05, 0.1, 0.2]}
    shorthand = "0.05,0.1,0.2"

    thresholds = NumberColumn(
        "The probabilities to act from, above 0 and below 1, at most 1,000; by default 0.01, 0.02, .. 0.99.",
        exclusive_minimum=0,
        exclusive_maximum=1,
    )
    prevalence = Number(
        "The proportion of positives where the classifier will be used; by default that of the data.",
        exclusive_minimum=0,
        exclusive_maximum=1,
    )

    def from_text(self, text: str, *, decimal_comma: bool) -> object:
        """Read thresholds."""
        return self.field_of_text("thresholds", text, decimal_comma=decimal_comma)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> NetBenefitOptions:
        """Build the options; {} requests the defaults."""
        thresholds = data.get("thresholds")
        if thresholds is not None and not 1 <= thresholds.size <= MOST_SHARES:
            message = f"There are {thresholds.size} thresholds; give 1 to {MOST_SHARES}."
            raise invalid("wrong_length", message, "thresholds")
        return NetBenefitOptions(**data)
