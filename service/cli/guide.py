"""`rocpr guide`: prints the user's guide, which is in service/guide."""

from difflib import get_close_matches

import click

from service.guide import INDEX, markdown_of, pages


@click.command(short_help="Print a page of the guide, or list the pages.")
@click.argument("page", required=False)
def guide(page: str | None) -> None:
    """Print a PAGE of the guide, as Markdown; without PAGE, list the pages.

    A server shows the same pages in a browser, at /guide.
    """
    known = pages()
    if page is None:
        widest = max(map(len, known))
        click.echo("\n".join(f"{name:{widest}}  {listed.about}" for name, listed in known.items()))
    elif page in {INDEX, *known}:
        click.echo(markdown_of(page).encode(), nl=False)  # bytes, because not every terminal's encoding has λ
    else:
        near = get_close_matches(page, known, 1)
        meant = f"did you mean {near[0]}?" if near else f"the pages are {', '.join(known)}."
        message = f"There is no page {page!r} in the guide; {meant}"
        raise click.BadParameter(message, param_hint="PAGE")
