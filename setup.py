"""The README as a package index shows it: its links and pictures lead to the repository, as it was at this version.

All else that there is to say of the package stands in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")  # to a place in the repository
FENCE = "```"


def for_an_index(text: str, repository: str, version: str) -> str:
    """The text with absolute links; code stays as it is."""

    def absolute(link: re.Match[str]) -> str:
        picture, words, place = link.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository}/{kind}/v{version}/{place})"

    pieces = text.split(FENCE)
    pieces[::2] = [LINK.sub(absolute, prose) for prose in pieces[::2]]
    return FENCE.join(pieces)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "escgnn/__init__.py").read_text(encoding="utf-8"), re.M)
    assert found is not None
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=for_an_index(readme, project["urls"]["Source"], found[1]),
        long_description_content_type="text/markdown",
    )
