"""How the code reads, in numbers: `python benchmarks/house.py [REPOSITORY]...` prints a column for each; this one by default.

They are for comparison, between two states of the code or with other libraries, and no aims in themselves.
"""

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SHAPE = re.compile(r"#.*\([\w*+\-/. ]+,[\w*+\-/., ]*\)")  # such as `# (N, hidden)`
TRUTH = {"bool", "isinstance", "any", "all", "endswith", "startswith", "is_file", "is_dir", "exists"}


@dataclass(frozen=True)
class Module:
    """One file of a package."""

    path: Path
    name: str  # with points

    @cached_property
    def text(self) -> str:
        """What stands in it."""
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        """The same, parsed."""
        return ast.parse(self.text)

    @property
    def unit(self) -> str:
        """The room that it belongs to: ``escgnn.unit.name``."""
        return f"{self.name}.".split(".")[1]

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """All but layout, comments and docstrings."""
        quiet = {line for start, end in self._docstrings() for line in range(start, end + 1)}
        return [
            token
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline)
            if token.type not in LAYOUT and token.type != tokenize.COMMENT and token.start[0] not in quiet
        ]

    @cached_property
    def code_lines(self) -> int:
        """Lines with code."""
        return len({line for token in self.tokens for line in range(token.start[0], token.end[0] + 1)})

    @cached_property
    def comments(self) -> list[str]:
        """Comments, without what is meant for tools."""
        found = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline)
            if token.type == tokenize.COMMENT
        ]
        return [comment for comment in found if not re.match(r"# (type:|noqa)", comment)]

    def _docstrings(self) -> Iterator[tuple[int, int]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
                first = node.body[0]
                if ast.get_docstring(node) is not None and first.end_lineno is not None:
                    yield first.lineno, first.end_lineno

    @cached_property
    def imports(self) -> set[str]:
        """Names of what it imports, with points; those of a module and of things in a module alike."""
        names: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        return names

    @cached_property
    def sources(self) -> set[str]:
        """Names of the modules that it imports from."""
        names: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
        return names


def modules(root: Path, package: str = "escgnn") -> list[Module]:
    """The modules of a repository's package."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        steps = path.relative_to(root).with_suffix("").parts
        found.append(Module(path, ".".join(steps).removesuffix(".__init__")))
    return found


def tuple_assignments(module: Module) -> list[str]:
    """Places of assignments such as ``a, b = 1, 2``, which are two thoughts; swaps are one."""
    return [
        f"{module.name}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and isinstance(target := node.targets[0], ast.Tuple)
        and {ast.dump(name).replace("Store", "Load") for name in target.elts} != {*map(ast.dump, node.value.elts)}
    ]


def nested_ternaries(module: Module) -> list[str]:
    """Places of ``a if b else c if d else e``."""
    return [
        f"{module.name}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.IfExp)
        and any(isinstance(inner, ast.IfExp) for inner in (node.body, node.test, node.orelse))
    ]


def text_times_truth(module: Module) -> list[str]:
    """Places of ``"s" * (count != 1)``: a text multiplied by what looks like a truth value."""
    return [
        f"{module.name}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and ((_is_text(node.left) and _is_truth(node.right)) or (_is_text(node.right) and _is_truth(node.left)))
    ]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in TRUTH
    is_negation = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_negation or isinstance(node, ast.Compare | ast.BoolOp | ast.Name | ast.Attribute)


def past_front_doors(found: list[Module]) -> list[str]:
    """Imports from inside a unit by modules outside it, ``escgnn.unit.inside``, where ``escgnn.unit`` should do.

    Of kernels every file is a door of its own: it shares its name with the module that calls it.
    """
    names = {module.name for module in found}
    past = []
    for module in found:
        insides = {".".join(name.split(".")[:3]) for name in module.sources}
        for inside in sorted(insides & names):
            steps = inside.split(".")
            if len(steps) == 3 and steps[1] not in (module.unit, "kernels"):
                past.append(f"{module.name}: {inside}")
    return past


def with_one_importer(found: list[Module]) -> list[str]:
    """Modules that exactly one other module imports."""
    importers: dict[str, set[str]] = {module.name: set() for module in found}
    for module in found:
        for name in module.imports:
            owner = name if name in importers else name.rpartition(".")[0]
            if owner in importers and owner != module.name:
                importers[owner].add(module.name)
    return [name for name, others in importers.items() if len(others) == 1]


def documented(found: list[Module]) -> float:
    """Share of public classes, functions and methods that have a docstring."""
    flags = []
    for module in found:
        for owner in ast.walk(module.tree):
            if isinstance(owner, ast.Module | ast.ClassDef):
                for node in owner.body:
                    if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                        flags.append(ast.get_docstring(node) is not None)
    return sum(flags) / len(flags)


def measure(root: Path) -> dict[str, str]:
    """All numbers of a repository, by what they are."""
    found = modules(root)
    lines = sum(module.code_lines for module in found)
    kernels = [module for module in found if module.unit == "kernels"]
    network = [module for module in found if module.unit in ("layers", "models")]
    longest = max(found, key=lambda module: len(module.text.splitlines()))
    remarks = sum(len(module.comments) for module in kernels)
    return {
        "modules": f"{len(found)}",
        "lines of code": f"{lines:,}",
        "tokens a line of code": f"{sum(len(module.tokens) for module in found) / lines:.1f}",
        "tuple assignments per 1,000 lines": f"{1000 * _total(tuple_assignments, found) / lines:.1f}",
        "nested ternaries": f"{_total(nested_ternaries, found)}",
        "text times truth": f"{_total(text_times_truth, found)}",
        "shape comments in layers and models": f"{sum(bool(SHAPE.search(c)) for m in network for c in m.comments)}",
        "comments per 100 lines of kernel": f"{100 * remarks / sum(module.code_lines for module in kernels):.1f}",
        "modules with one importer": f"{len(with_one_importer(found))}",
        "imports past a front door": f"{len(past_front_doors(found))}",
        "largest file, lines": f"{len(longest.text.splitlines())} ({longest.name})",
        "files in training": f"{sum(module.unit == 'training' for module in found)}",
        "public definitions documented": f"{documented(found):.0%}",
    }


def _total(places: object, found: list[Module]) -> int:
    assert callable(places)
    return sum(len(places(module)) for module in found)


def main() -> None:
    """Print the numbers of each repository in a column, and on request the places to look at."""
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).parents[1]
    parser.add_argument("repository", nargs="*", type=Path, default=[here])
    parser.add_argument("--places", action="store_true", help="list what is counted, of the last repository")
    options = parser.parse_args()
    columns = [measure(root) for root in options.repository]
    for name in columns[0]:
        print(f"{name:<36}", *(f"{column[name]:<28}" for column in columns))
    if options.places:
        found = modules(options.repository[-1])
        for look in (tuple_assignments, nested_ternaries, text_times_truth):
            print(f"\n{look.__name__}", *(place for module in found for place in look(module)), sep="\n  ")
        print("\npast_front_doors", *past_front_doors(found), sep="\n  ")
        print("\nwith_one_importer", *with_one_importer(found), sep="\n  ")


if __name__ == "__main__":
    main()
