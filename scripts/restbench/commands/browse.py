"""`browse`: all runs as one page."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from restbench.commands.options import console
from restbench.show.browser import site
from restbench.store import store


def browse_runs(
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the web browser of this desktop.")
    ] = False,
) -> None:
    """Write results/index.html: all runs as one page."""
    found = site.find(store.RESULTS)
    for line in found.left_out:
        console.print(f"left out  {line}", markup=False, soft_wrap=True)
    if not found.runs:
        console.print(
            f"{store.RESULTS}: no run to show yet; 'restbench run' makes one", soft_wrap=True
        )
        return
    page = site.write(store.RESULTS, found)
    runs = f"{len(found.runs)} run{'s' * (len(found.runs) != 1)}"
    console.print(f"browser   {page}  ({runs})", soft_wrap=True)
    if open_page:
        webbrowser.open(page.as_uri())
