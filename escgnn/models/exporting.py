"""Models as programs that run without this library: of `torch.export`, and from these of ONNX."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.fx.experimental import _config as config

if TYPE_CHECKING:
    from escgnn.models.frame import Network

SIZES = {  # names of the sizes that may change, and the inputs that have them
    "nodes": (
        "x",
        "batch",
        "esc_node_len",
        "laplacian_eigenvector_pe",
        "random_walk_pe",
        "walk_returns",
        "laplacian_vectors",
        "laplacian_values",
    ),
    "edges": ("edge_index", "edge_attr", "esc_len"),
    "graphs_plus_1": ("ptr",),
    "graphs": ("descriptors",),
    "entries": ("esc_bin", "esc_count"),
    "node_entries": ("esc_node_bin", "esc_node_count"),
}
INT64 = 7  # as ONNX counts types
ROWS = {"node": "nodes", "edge": "edges", "graph": "graphs"}  # of the output, by level
SIZE_OF = {name: size for size, names in SIZES.items() for name in names}


def size_of(name: str) -> str:
    """What the size of an input that may change is called; that of one that is not listed above after itself."""
    return SIZE_OF.get(name, f"{name}_rows")


def export_program(
    model: "Network", data: Any, finish: Callable[[Tensor], Tensor] | None = None
) -> torch.export.ExportedProgram:
    """The model as a program of one argument: ``model.tensors(data)``, whose sizes may be any.

    Args:
        model: In evaluation mode.
        data: An example, a batch of at least two graphs.
        finish: What is done with the outputs, as a part of the program.

    Raises:
        ValueError: It cannot be one: the model says so, or torch cannot trace it.
    """
    if model.cannot_export:
        raise ValueError(model.cannot_export)
    tensors = dict(sorted(model.tensors(data).items()))
    sizes = {name: {int(name == "edge_index"): torch.export.Dim.DYNAMIC} for name in tensors}
    # without it a program made from a batch would refuse a single graph
    with config.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]  # it is put there on import
        try:
            return torch.export.export(_OfTensors(model, finish), (tensors,), dynamic_shapes=(sizes,))
        except Exception as error:  # torch has many kinds of its own
            reason = str(error).strip().split("\n")[0]
            raise ValueError(f"{type(model).__name__} cannot be exported: {type(error).__name__}: {reason}") from error


def to_onnx(program: torch.export.ExportedProgram, level: str, metadata: Mapping[str, str]) -> torch.onnx.ONNXProgram:
    """The ONNX form of what `export_program` gives. Its inputs have the names of the tensors; its output is ``prediction``.

    Args:
        program: The program.
        level: The model's level.
        metadata: Texts to keep in the file, its ``metadata_props``.

    Raises:
        ImportError: ONNX is not installed.
    """
    try:
        import onnxscript
    except ImportError:
        raise ImportError("writing ONNX needs further packages: pip install 'escgnn[onnx]'") from None
    ((tensors,), _) = program.example_inputs
    names = [*tensors]
    axes = {name: {int(name == "edge_index"): size_of(name)} for name in names}
    with _quiet():
        result = torch.onnx.export(
            program,
            input_names=names,
            output_names=["prediction"],
            dynamic_shapes=(axes,),
            dynamo=True,
            verbose=False,
            custom_translation_table=_translations(onnxscript.opset18),
        )
    assert result is not None
    graph = result.model.graph
    rows = graph.outputs[0].shape
    assert rows is not None
    rows[0] = ROWS[level]
    for node in graph.all_nodes():
        node.metadata_props.clear()  # lines and paths of this library's code
    result.model.metadata_props.update(metadata)
    return result


class _OfTensors(nn.Module):
    """The model with `Network.forward_tensors` in place of ``forward``, and perhaps a last step."""

    def __init__(self, model: "Network", finish: Callable[[Tensor], Tensor] | None) -> None:
        super().__init__()
        self.model, self.finish = model, finish

    def forward(self, tensors: dict[str, Tensor]) -> Tensor:
        output = self.model.forward_tensors(tensors)
        return output if self.finish is None else self.finish(output)


def _translations(op: Any) -> dict[Callable[..., Any], Callable[..., Any]]:
    """What rows of different lengths need, in ONNX's operators; torch's own translations of both do not work here."""

    def ints(*numbers: int) -> Any:
        return op.Constant(value_ints=[*numbers])

    def numbers_below(places: Any, size: Any) -> Any:
        """For each number from 0 to below ``size``, how many places are not above it."""
        marks = op.Expand(ints(0), op.Add(size, ints(1)))
        marks = op.ScatterElements(marks, places, op.Expand(ints(1), op.Shape(places)), reduction="add")
        return op.Slice(op.CumSum(marks, ints(0)), ints(0), ints(-1))

    def repeat_interleave(repeats: Any, output_size: Any = None) -> Any:
        return numbers_below(op.CumSum(repeats, ints(0)), op.ReduceSum(repeats, keepdims=1))

    def embedding_bag(
        weight: Any,
        indices: Any,
        offsets: Any,
        scale_grad_by_freq: bool = False,
        mode: int = 0,
        sparse: bool = False,
        per_sample_weights: Any = None,
        include_last_offset: bool = False,
        padding_idx: int = -1,
    ) -> Any:
        start = op.Cast(offsets, to=INT64)
        row = op.Sub(numbers_below(start, op.Shape(indices)), ints(1))
        terms = op.Gather(weight, indices)
        if per_sample_weights is not None:
            terms = op.Mul(terms, op.Unsqueeze(per_sample_weights, ints(1)))
        channels = op.Shape(weight, start=1)
        zeros = op.Expand(
            op.CastLike(op.Constant(value_float=0.0), weight), op.Concat(op.Shape(start), channels, axis=0)
        )
        rows = op.ScatterND(zeros, op.Unsqueeze(row, ints(1)), terms, reduction="add")
        return rows, ints(0), ints(0), ints(0)  # the others serve gradients only

    aten = torch.ops.aten
    bags = (aten.embedding_bag.padding_idx, aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
    return {aten.repeat_interleave.Tensor: repeat_interleave, **dict.fromkeys(bags, embedding_bag)}


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what the converters say about packages and operators that this does not use."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
