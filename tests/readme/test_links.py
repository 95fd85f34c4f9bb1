"""Every link in the documents leads somewhere, in the repository and where the guide is served."""

import pytest

from tests.readme.documents import DOCUMENTS, GUIDE, HERE, README, ROOT, anchors, links, text_of


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_and_a_heading(document: str) -> None:
    for link in links(document):
        if link.startswith(HERE):
            continue  # test_guide.py follows it
        target, _, fragment = link.partition("#")
        file = (ROOT / document).parent / target if target else ROOT / document
        assert file.exists(), link
        assert file.resolve().is_relative_to(ROOT), link
        if fragment:
            assert fragment in anchors(str(file.resolve().relative_to(ROOT))), link


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_two_headings_have_one_anchor(document: str) -> None:
    found = anchors(document)
    assert len(set(found)) == len(found)


def test_readme_is_short() -> None:
    lines = len(text_of(README).splitlines())
    assert lines <= 200, (
        "move something to the guide, or lay out an answer by hand: tests.readme.write takes more lines"
    )


def test_readme_leads_to_every_document() -> None:
    """Directly, or through the index of the guide."""
    assert set(DOCUMENTS) - set(GUIDE) - {README} <= set(links(README))
    assert "service/guide/index.md" in links(README)
