"""Modules for a model of your own: a convolution of infinite depth, and the whole family EIGNN.

>>> import torch, eignn
>>> conv = eignn.nn.EIGNNConv(5, 3)
>>> conv(torch.randn(4, 5), torch.tensor([[0, 1, 2], [1, 2, 3]])).shape
torch.Size([4, 3])
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch

from . import _binding
from ._equilibrium import SOURCES, Solver, check_features
from ._graphs import Graph, GraphCache, argument_error
from ._settings import texts_of

__all__ = ["EIGNN", "EIGNNConv"]


def _with_data(x: Any, edge_index: Any) -> Any:
    """x and a graph; of a Data of PyTorch Geometric in the place of x, its own."""
    if edge_index is None and hasattr(x, "edge_index"):
        return x.x, x
    if edge_index is None:
        raise TypeError("there is no graph (edge_index); give an edge_index, a sparse matrix, a NetworkX graph or a Data")
    return x, edge_index


class EIGNNConv(torch.nn.Module):
    """A graph convolution of infinite depth: Z = γ Sᵀ Z g(F) + P (x Wᵀ), then + b.

    Used as any convolution of PyTorch Geometric. ``edge_index`` may be a sparse matrix of torch or SciPy (the adjacency
    matrix), a NetworkX graph, a ``Data`` or an :class:`eignn.Graph` as well; all are normalised here.

    Args:
        in_channels, out_channels: widths of x and of the output; the equilibrium has the output's.
        gamma, source, solver, direction, normalise, self_loops: as for :func:`eignn.equilibrium`.
        bias: whether there is a b.

    >>> import torch, eignn
    >>> conv = eignn.nn.EIGNNConv(16, 7)
    >>> conv
    EIGNNConv(16, 7)
    >>> sorted(conv.state_dict())
    ['F', 'bias', 'weight']
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        gamma: float = 0.8,
        source: str = "own",
        solver: str = "auto",
        direction: str = "undirected",
        normalise: str = "sym",
        self_loops: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        for name, width in (("in_channels", in_channels), ("out_channels", out_channels)):
            if int(width) < 1:
                raise argument_error(name, f"{width} is no width", "give 1 or more")
        if not 0 < gamma <= 1:
            raise argument_error("gamma", f"{gamma} is not in (0, 1]", "give a contraction factor such as 0.8")
        if source not in SOURCES:
            raise argument_error("source", f"there is no source {source!r}", "give own or neighbours")
        self.in_channels, self.out_channels = int(in_channels), int(out_channels)
        self.gamma, self.source, self.solver = gamma, source, solver
        self.direction, self.normalise, self.self_loops = direction, normalise, self_loops
        self.weight = torch.nn.Parameter(torch.empty(self.out_channels, self.in_channels))
        self.F = torch.nn.Parameter(torch.empty(self.out_channels, self.out_channels))
        if bias:
            self.bias = torch.nn.Parameter(torch.empty(self.out_channels))
        else:
            self.register_parameter("bias", None)
        self._solvers = GraphCache(capacity=4)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights from torch's generator: those of the linear map and F as Glorot and Bengio, b = 0."""
        torch.nn.init.xavier_uniform_(self.weight)
        torch.nn.init.xavier_uniform_(self.F)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: Any, edge_index: Any = None, edge_weight: Optional[torch.Tensor] = None) -> torch.Tensor:
        """(nodes, out_channels) for x (nodes, in_channels) on a graph, or for a ``Data`` alone."""
        x, edge_index = _with_data(x, edge_index)
        check_features(x)
        self._check(x)
        h = torch.nn.functional.linear(x, self.weight)

        def make() -> Solver:
            graph = Graph(edge_index, x.size(0), edge_weight)
            return Solver(graph, self.out_channels, gamma=self.gamma, source=self.source, solver=self.solver,
                          direction=self.direction, normalise=self.normalise, self_loops=self.self_loops,
                          dtype=x.dtype, device=x.device, x=h)

        more = (x.size(0), x.dtype, x.device, self.gamma, self.source, self.solver, self.direction, self.normalise, self.self_loops)
        z = self._solvers.get(edge_index, edge_weight, more, make)(self.F, h)
        return z if self.bias is None else z + self.bias

    def _check(self, x: torch.Tensor) -> None:
        if x.size(1) != self.in_channels:
            raise argument_error("x", f"its shape is {tuple(x.shape)}", f"give (nodes, {self.in_channels})")
        if x.device != self.F.device:
            raise argument_error("x", f"x is on {x.device} and the module on {self.F.device}", "move one of them with .to(device)")
        if x.dtype != self.F.dtype:
            raise TypeError(f"x is {x.dtype} and the module {self.F.dtype} (x); convert one of them with .to(dtype)")

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}"

    def __repr__(self) -> str:
        return f"EIGNNConv({self.extra_repr()})"


class _Scores(torch.autograd.Function):
    """The scores of the library's own model; its backward pass is the library's too."""

    @staticmethod
    def forward(ctx, model, index, training, seed, differentiable, buffers, x, *weights):  # type: ignore[override]
        ctx.model = model
        ctx.done = model.forward(index, x, list(weights), buffers, training, seed, differentiable)
        ctx.save_for_backward(x, *weights)  # so that torch refuses a backward pass after they were written to
        return ctx.done.scores

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, cotangent):  # type: ignore[override]
        ctx.saved_tensors
        return (None, None, None, None, None, None, *ctx.model.backward(ctx.done, cotangent.contiguous()))


def _place(module: torch.nn.Module, name: str) -> torch.nn.Module:
    """The submodule that owns "a.b.weight", made where it is not there."""
    for part in name.split(".")[:-1]:
        if part not in module._modules:
            module.add_module(part, torch.nn.Module())
        module = module._modules[part]  # type: ignore[assignment]
    return module


class EIGNN(torch.nn.Module):
    """The whole family EIGNN as a module: encoder, equilibria or a stack of them, head.

    The settings are those of ``eignn train --model eignn`` with underscores (``eignn.settings_of("eignn")`` says what each
    means): head, encoder, source, direction, layers, hidden, norm, dropout, gamma, … The weights' names are those of a
    checkpoint, so that the state of one is the state of the other.

    Args:
        in_channels: the width of x.
        out_channels: the number of scores of a node.
        seed: fixes the start, as ``--seed`` does; where it is None torch's generator draws one.

    >>> import torch, eignn
    >>> model = eignn.nn.EIGNN(5, 2, encoder=8, norm="layer", seed=0)
    >>> sorted(model.state_dict())
    ['B', 'F', 'encoder_bias', 'encoder_weight', 'norm_bias', 'norm_weight']
    >>> model(torch.randn(3, 5), torch.tensor([[0, 1], [1, 2]])).shape
    torch.Size([3, 2])
    """

    def __init__(self, in_channels: int, out_channels: int, *, seed: Optional[int] = None, **settings: Any) -> None:
        super().__init__()
        for name, width in (("in_channels", in_channels), ("out_channels", out_channels)):
            if int(width) < 1:
                raise argument_error(name, f"{width} is no width", "give 1 or more")
        for name in ("device", "dtype", "model"):
            if name in settings:
                raise argument_error(name, "a module has no such setting", "use .to(), or eignn.train for another model")
        self.in_channels, self.out_channels = int(in_channels), int(out_channels)
        self.settings: Dict[str, str] = texts_of(settings)
        if seed is None:
            seed = int(torch.randint(2**62, ()).item())
        texts = {**self.settings, "model": "eignn", "seed": str(seed), "dtype": "float64"}
        parameters, buffers = _binding.starting_state(texts, self.in_channels, self.out_channels)
        self._parameter_names, self._buffer_names = list(parameters), list(buffers)
        kind = torch.get_default_dtype()
        for name, value in parameters.items():
            _place(self, name).register_parameter(name.split(".")[-1], torch.nn.Parameter(value.to(kind).clone()))
        for name, value in buffers.items():
            own = value.to(kind) if value.dtype.is_floating_point else value
            _place(self, name).register_buffer(name.split(".")[-1], own.clone())
        self._dropout = float(self.settings.get("dropout", 0)) > 0
        self._models = GraphCache(capacity=4)

    def forward(
        self,
        x: Any,
        edge_index: Any = None,
        edge_weight: Optional[torch.Tensor] = None,
        *,
        index: Optional[torch.Tensor] = None,
    ) -> torch.Tensor:
        """Scores (nodes, out_channels), or their rows at ``index``, for which less is computed."""
        x, edge_index = _with_data(x, edge_index)
        check_features(x)
        state = dict(self.named_parameters()), dict(self.named_buffers())
        weights: List[torch.Tensor] = [state[0][name] for name in self._parameter_names]
        buffers: List[torch.Tensor] = [state[1][name] for name in self._buffer_names]
        first = weights[0]
        if x.size(1) != self.in_channels:
            raise argument_error("x", f"its shape is {tuple(x.shape)}", f"give (nodes, {self.in_channels})")
        if x.device != first.device:
            raise argument_error("x", f"x is on {x.device} and the module on {first.device}", "move one of them with .to(device)")
        if x.dtype != first.dtype:
            raise TypeError(f"x is {x.dtype} and the module {first.dtype} (x); convert one of them with .to(dtype)")
        model = self._models.get(edge_index, edge_weight, (x.size(0), x.dtype, x.device), lambda: self._on(x, edge_index, edge_weight))
        seed = int(torch.randint(2**62, ()).item()) if self.training and self._dropout else None
        # Inside of apply() gradients are always off.
        differentiable = torch.is_grad_enabled() and (x.requires_grad or any(w.requires_grad for w in weights))
        return _Scores.apply(model, index, self.training, seed, differentiable, buffers, x, *weights)

    def _on(self, x: torch.Tensor, edge_index: Any, edge_weight: Any) -> _binding.GraphModel:
        graph = Graph(edge_index, x.size(0), edge_weight)
        texts = {**self.settings, "model": "eignn", "dtype": str(x.dtype)[6:], "device": x.device.type}
        return _binding.GraphModel(texts, graph._graph, x, self.out_channels)

    def extra_repr(self) -> str:
        told = "".join(f", {name.replace('-', '_')}={value}" for name, value in sorted(self.settings.items()))
        return f"{self.in_channels}, {self.out_channels}{told}"

    def __repr__(self) -> str:
        return f"EIGNN({self.extra_repr()})"
