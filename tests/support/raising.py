"""What a call raises, as a value."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import pytest

Raised = TypeVar("Raised", bound=BaseException)
P = ParamSpec("P")


def raised(kind: type[Raised], call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> Raised:
    """The error of this kind that a call must raise."""
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    return caught.value
