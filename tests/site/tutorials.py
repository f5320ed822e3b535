"""Tutorials: scripts of `examples` that are run block by block, as a notebook is, and shown with what they gave.

A block begins with ``# %%`` and holds code, or with ``# %% [markdown]`` and holds text as comments; the docstring of the
script is the first text, and its first line the title. What a block prints is shown, and the value of its last line, if that
is an expression.
"""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from escgnn.explorer import Page

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SHOWN = ROOT / "docs" / "tutorials"
NAMES = (  # in the order in which they are read
    "count_and_see",
    "any_pyg_model",
    "from_csv_to_decision",
    "reproduce_a_table",
    "your_own_part_and_network",
    "scale_out",
)
MARK = re.compile(r"^# %%(.*)\n", re.M)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
COLOURS = 64  # of a kept figure
DPI = 90
NEAR = 0.02  # how far a decimal may be from the kept one, and
SHARE = 0.25  # of the kept one beside that
MOST_SAID = 300  # letters of a difference


@dataclass(frozen=True)
class Block:
    """Text or code of a tutorial."""

    is_code: bool
    source: str


@dataclass(frozen=True)
class Shown:
    """A tutorial as it is shown: the page and, by name, the files that it refers to."""

    page: str
    files: dict[str, bytes]


def read(name: str) -> list[Block]:
    """The blocks of an example; the first is text that begins with the title."""
    script = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    opening = ast.get_docstring(ast.parse(script)) or ""
    title, _, introduction = opening.partition("\n")
    blocks = [Block(False, f"# {title.rstrip('.')}\n{introduction}".strip())]
    _, *pieces = MARK.split(script)
    for words, body in zip(pieces[::2], pieces[1::2], strict=True):
        if words.strip() == "[markdown]":
            text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
            blocks.append(Block(False, text))
        else:
            blocks.append(Block(True, body.strip()))
    return blocks


def notebook(name: str) -> str:
    """A tutorial as a Jupyter notebook without outputs."""
    cells = []
    for number, block in enumerate(read(name)):
        cell: dict[str, Any] = {"id": f"block-{number}", "metadata": {}, "source": block.source.splitlines(True)}
        if block.is_code:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        else:
            formulas = re.sub(r"\\[()]", "$", re.sub(r"\\[\[\]]", "$$", block.source))  # as notebooks write them
            cell |= {"cell_type": "markdown", "source": _links_to_pages(formulas).splitlines(True)}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _links_to_pages(text: str) -> str:
    """Text whose links to pages of the site, which a notebook does not have beside it, are plain words."""
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def run(name: str) -> Shown:
    """Run a tutorial in the current folder, and show it."""
    title, *blocks = read(name)
    head, _, introduction = title.source.partition("\n")
    download = f"[Download this page as a notebook]({name}.ipynb){{ download }}, or run `python examples/{name}.py`."
    sections = [head, download, introduction.strip()]
    files: dict[str, bytes] = {}
    module = ModuleType("__main__")
    for block in blocks:
        if block.is_code:
            sections.append(f"```python\n{block.source}\n```")
            sections += _outputs(block.source, module, name, files)
        else:
            sections.append(block.source)
    return Shown("\n\n".join(section for section in sections if section) + "\n", files)


def _outputs(source: str, module: ModuleType, name: str, files: dict[str, bytes]) -> Iterator[str]:
    """Run a block; what it printed, and its value, as Markdown."""
    *body, last = ast.parse(source).body
    value = None
    printed = StringIO()
    with redirect_stdout(printed):
        if not isinstance(last, ast.Expr):
            body.append(last)
        exec(compile(ast.Module(body, []), name, "exec"), vars(module))
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), vars(module))
    text = "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").splitlines())
    if text:
        yield f"```text\n{text}\n```"
    if value is not None:
        yield _value(value, name, files)


def _value(value: Any, name: str, files: dict[str, bytes]) -> str:
    """The value of a block's last line, as Markdown."""
    number = len(files) + 1
    if isinstance(value, Figure):
        files[f"{name}-{number}.png"] = _picture(value)
        return f"![Output: the picture that the code above draws]({name}-{number}.png)"
    if isinstance(value, Page):
        files[f"{name}-{number}.html"] = value.html.encode()
        return f'<iframe src="{name}-{number}.html" title="{value.title}" class="explorer" loading="lazy"></iframe>'
    if hasattr(value, "_repr_html_"):
        return f'<div class="output">{value._repr_html_()}</div>'
    return f"```text\n{value!r}\n```"


def _picture(figure: Figure) -> bytes:
    """A figure as a small PNG."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    small = BytesIO()
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(small, format="png", optimize=True)
    return small.getvalue()


def keep(name: str, shown: Shown) -> None:
    """Put a tutorial into the docs, in place of what was there."""
    SHOWN.mkdir(exist_ok=True)
    for old in SHOWN.glob(f"{name}*"):
        old.unlink()
    (SHOWN / f"{name}.md").write_text(shown.page, encoding="utf-8")
    (SHOWN / f"{name}.ipynb").write_text(notebook(name), encoding="utf-8")
    for file, content in shown.files.items():
        (SHOWN / file).write_bytes(content)


def differences(kept: str, now: str) -> list[str]:
    """Where two texts differ; decimals, which other machines compute a little differently, need only be near.

    >>> differences("3 graphs, error 0.113", "3 graphs,  error 0.12")
    []
    >>> differences("3 graphs, error 0.113", "4 graphs, error 0.33")
    ['3 graphs, error -> 4 graphs, error', '0.113 -> 0.33']
    >>> differences("error 0.113", "error")
    ['1 numbers -> 0 numbers']
    """
    found = []
    for before, after in zip(NUMBER.split(kept), NUMBER.split(now), strict=False):
        words = before.split()
        others = after.split()
        if words != others:
            found.append(f"{' '.join(words)[-MOST_SAID:]} -> {' '.join(others)[-MOST_SAID:]}")
    numbers = NUMBER.findall(kept)
    others = NUMBER.findall(now)
    if len(numbers) != len(others):
        found.append(f"{len(numbers)} numbers -> {len(others)} numbers")
    for before, after in zip(numbers, others, strict=False):
        if abs(float(before) - float(after)) > NEAR + SHARE * abs(float(before)):
            found.append(f"{before} -> {after}")
    return found
