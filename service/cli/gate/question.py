"""A gate's question: a file of rules, a file of scores and perhaps one of a baseline. A problem names its file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.cli.asking import Question, RequestPart
from service.cli.command_error import fail
from service.cli.explaining import Source, Told, as_typed, problem_lines
from service.cli.gate.rules_file import GATE_OPTIONS, Rules
from service.cli.options import Texts
from service.cli.own_options import of_baseline
from service.cli.server_address import ServerAddress
from service.operations import OPERATIONS
from service.wire.answers.parts import Document
from service.wire.formats.inputs import BASELINE, MEANING
from service.wire.formats.query_options import options_of
from service.wire.formats.tables import NamedByRules, one_evaluation
from service.wire.requests.query_fields import READING_FIELDS


def question_of(
    rules: Rules,
    sources: Sequence[Source],
    given: Texts,
    own: Texts,
    server: ServerAddress | None,
    *,
    operation: str = "gates",
) -> Question:
    """Make the question about scores and perhaps a baseline, for a verdict or for plans.

    The options given override those of the rules; `own`, of the baseline alone, override both.

    A JSON file takes from these only the meaning of labels and scores, unless it has its own.
    """
    scores, *baselines = sources
    texts, own_texts = rules.texts | given, rules.texts_of_baseline | own
    asked = OPERATIONS[operation]
    form = one_evaluation(READING_FIELDS) if baselines else asked.form
    named = NamedByRules(rules.options.get("rules", []), classes=operation == "gates")
    form = replace(form, several=named)
    meaning = rules.meaning | _meaning(given)
    parts = [RequestPart(scores, form, texts, given, meaning=meaning)]
    of_baselines = replace(form, several=replace(named, needed=False))
    for baseline in baselines:
        if BASELINE in rules.texts:
            both = f"{BASELINE} names a column, and --baseline names a file; give only one of them."
            fail([f"Error: {rules.name}: {both}"])
        of_old = meaning | _meaning(own_texts)
        typed, read = given | own, texts | own_texts
        parts.append(RequestPart(baseline, of_baselines, read, typed, "/baseline", meaning=of_old, spelled=of_baseline))

    def explain(problem: Document, errors: list[Document]) -> Iterable[str]:
        """Tell errors in the rules, and that two files are not paired."""
        of_both = [each for each in errors if baselines and each["code"] == "not_paired"]
        of_rules = [each for each in errors if each not in of_both]
        if of_rules:
            told = [_told(each, rules.place(each["pointer"]) + each["pointer"]) for each in of_rules]
            yield from problem_lines(problem, rules.name, told)
            if any(each["code"] == "missing" and "baseline" in each["detail"] for each in of_rules):
                yield "  The option --baseline OLD names its file."
                if operation == "gates":
                    yield "  If there is none yet, --without-baseline skip leaves out the rules that need one."
        if of_both:
            names = ", ".join(source.name for source in sources)
            yield from problem_lines(problem, names, [_told(each, "") for each in of_both])

    options = {name: value for name, value in rules.options.items() if name in asked.parameters}
    question = Question(operation, parts, server, options, GATE_OPTIONS, explain)
    _refuse_request(question, rules)
    return question


def _told(error: Document, place: str) -> Told:
    return Told(place, as_typed(error["detail"]), error["code"])


def _meaning(texts: Texts) -> dict[str, object]:
    """The meaning of labels and scores among options."""
    return options_of({key: texts[key] for key in MEANING if key in texts}, READING_FIELDS)


def _refuse_request(question: Question, rules: Rules) -> None:
    """Refuse a JSON file of scores that is a whole request, whose rules would be lost."""
    scores = question.parts[0].source
    if scores.is_table:
        return
    for key in (*GATE_OPTIONS, "baseline"):
        if key in question.read[0].document:  # type: ignore[operator]  # an object
            place = "in the file that --baseline names" if key == "baseline" else f"in {rules.name}"
            fail([f"Error: {scores.name}: {key} belongs {place}; this file may hold an evaluation only."])
