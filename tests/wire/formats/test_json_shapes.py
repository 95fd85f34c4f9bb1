"""JSON bodies in a shape other than columns: which of them are examined."""

from service.wire.formats.json_shapes import refuse_names_of_other_libraries
from service.wire.problems import Problem
from tests.support.raising import raised


def test_names_are_guessed_among_a_hundred_fields_and_no_more() -> None:
    others = {f"feature_{number}": [0.5] for number in range(98)}
    document = {"y_score": [0.9], "y_true": [1], **others}
    problem = raised(Problem, refuse_names_of_other_libraries, document)
    assert [(error.pointer, error.detail) for error in problem.errors] == [
        ("/y_score", "Unknown field; did you mean scores?"),
        ("/y_true", "Unknown field; did you mean labels?"),
    ]
    refuse_names_of_other_libraries({**document, "one_more": [0.5]})
