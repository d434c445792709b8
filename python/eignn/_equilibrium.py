"""The equilibrium Z = γ g(F) Z S + X P as a differentiable function; node-major: Z = γ Sᵀ Z g + P X."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch
from torch.autograd.function import once_differentiable

from . import _binding
from ._graphs import Graph, GraphCache, argument_error, arcs_of, is_sparse_matrix

SOURCES = ("own", "neighbours")


class _Solve(torch.autograd.Function):
    """Z at the rows of `index`, with the solver's own adjoint; no iteration is unrolled."""

    @staticmethod
    def forward(ctx, F, x, solver, index):  # type: ignore[override]
        start = solver.source(x)
        if start is x and x.requires_grad and x.is_leaf:
            # A solver knows features that it has seen by their memory and version, and x.data has no version of its own.
            start = x.detach().clone().requires_grad_()
        solved = solver.solve(F, start)
        z = solved.rows(index)
        ctx.solved, ctx.solver, ctx.index = solved, solver, index
        # So that torch refuses a backward pass after F, x or z was written to.
        ctx.save_for_backward(F, x, z)
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, cotangent):  # type: ignore[override]
        ctx.saved_tensors
        want_F, want_x = ctx.needs_input_grad[:2]
        F, W = ctx.solved.pull(ctx.index, cotangent.contiguous(), want_F, want_x)
        return F, ctx.solver.pull_source(W) if want_x else None, None, None


def check_features(x: Any, field: str = "x", dimensions: int = 2) -> None:
    """TypeError or ArgumentError unless x is a dense floating-point matrix in a precision that is solved in."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{field} is a {type(x).__name__} ({field}); give a torch.Tensor")
    if x.layout != torch.strided:
        raise TypeError(f"{field} is sparse ({field}); give {field}.to_dense()")
    if x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"{field} has the type {str(x.dtype)[6:]} ({field}); give float32 or float64")
    if x.dim() != dimensions:
        raise argument_error(field, f"its shape is {tuple(x.shape)}", "give (nodes, features)")



def check_weight(F: Any, x: torch.Tensor) -> None:
    """The same for F, which must be as wide as x on both sides."""
    check_features(F, "F")
    if tuple(F.shape) != (x.size(1), x.size(1)):
        raise argument_error("F", f"its shape is {tuple(F.shape)}", f"give ({x.size(1)}, {x.size(1)}) for this x")


def _propagation(graph: Any, edge_weight: Any, num_nodes: Optional[int], direction: str, normalise: str,
                 self_loops: bool, weight_scale: float) -> _binding.Propagation:
    if is_sparse_matrix(graph):
        source, target, values, nodes = arcs_of(graph)
        if num_nodes is not None and nodes != num_nodes:
            raise argument_error("S", f"the matrix is {nodes} by {nodes}, and there are {num_nodes} nodes", "give a row of x for each node")
        if edge_weight is not None:
            raise argument_error("edge_weight", "S has its own entries", "leave edge_weight out, or give an edge_index")
        values = torch.as_tensor(values)
        if values.dtype.is_complex:
            raise TypeError("S has complex entries (S); give real ones")
        return _binding.given_propagation(nodes, source, target, values.detach().cpu().to(torch.float64))
    made = Graph(graph, num_nodes, edge_weight)
    return _binding.make_propagation(made._graph, direction, normalise, bool(self_loops), float(weight_scale))


class Solver:
    """A solver for one graph, prepared once and used for many F and x.

    ``graph`` is anything that :class:`Graph` takes, or S itself as a sparse matrix of torch or SciPy (non-negative, of
    norm at most 1). ``features`` is the width of x; with an ``x`` of the kind that it will be used for, ``auto`` knows which
    nodes have features, and whether they change. The other arguments are those of :func:`equilibrium`.

    >>> import torch, eignn
    >>> path = torch.tensor([[0, 1], [1, 2]])
    >>> solver = eignn.Solver(path, features=2, solver="sparse", dtype=torch.float64)
    >>> solver
    Solver(sparse, nodes=3, features=2)
    >>> Z = solver(torch.eye(2, dtype=torch.float64), torch.ones(3, 2, dtype=torch.float64))
    >>> Z.shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        graph: Any,
        features: int,
        *,
        gamma: float = 0.8,
        source: str = "own",
        solver: str = "auto",
        edge_weight: Any = None,
        direction: str = "undirected",
        normalise: str = "sym",
        self_loops: bool = True,
        weight_scale: float = 0.0,
        epsilon: float = 1e-12,
        tolerance: float = 0.0,
        max_iterations: int = 100_000,
        dtype: torch.dtype = torch.float32,
        device: Any = "cpu",
        num_nodes: Optional[int] = None,
        x: Optional[torch.Tensor] = None,
    ) -> None:
        if source not in SOURCES:
            raise argument_error("source", f"there is no source {source!r}", "give own or neighbours")
        if dtype not in (torch.float32, torch.float64):
            raise TypeError(f"the type is {dtype} (dtype); a solver computes in torch.float32 or torch.float64")
        fixed, sources = True, None
        if x is not None:
            fixed, sources = not x.requires_grad, x.detach().ne(0).any(1).nonzero().flatten().cpu()
        S = _propagation(graph, edge_weight, num_nodes, direction, normalise, self_loops, weight_scale)
        self.num_nodes, self.features = S.nodes, int(features)
        self._solver = _binding.Solver(
            solver, S, self.features, source == "neighbours", float(gamma), float(epsilon), str(dtype)[6:],
            str(torch.device(device)), float(tolerance), int(max_iterations), fixed, sources
        )

    @property
    def name(self) -> str:
        """The solver in use: of ``auto``, the one that was chosen."""
        return self._solver.name

    @property
    def preprocess_seconds(self) -> float:
        return self._solver.preprocess_seconds

    def __call__(self, F: torch.Tensor, x: torch.Tensor, index: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Z (nodes, features), or its rows at ``index``; differentiable in F and x, once."""
        check_features(x)
        check_weight(F, x)
        return _Solve.apply(F, x, self._solver, index)

    def residual(self, Z: torch.Tensor, F: torch.Tensor, x: torch.Tensor) -> float:
        """‖Z - γ Sᵀ Z g - P x‖ / ‖P x‖ in float64, straight from the definition."""
        return self._solver.residual(Z.detach(), F.detach(), self._solver.source(x.detach()))

    def __repr__(self) -> str:
        return f"Solver({self.name}, nodes={self.num_nodes}, features={self.features})"


_solvers = GraphCache(capacity=4)


def equilibrium(
    x: torch.Tensor,
    edge_index: Any,
    F: torch.Tensor,
    gamma: float = 0.8,
    source: str = "own",
    solver: str = "auto",
    edge_weight: Optional[torch.Tensor] = None,
    *,
    direction: str = "undirected",
    normalise: str = "sym",
    self_loops: bool = True,
    index: Optional[torch.Tensor] = None,
    epsilon: float = 1e-12,
    tolerance: float = 0.0,
) -> torch.Tensor:
    """The limit of infinitely many layers: Z = γ Sᵀ Z g(F) + P x with g(F) = FᵀF / (‖FᵀF‖ + ε).

    Differentiable in x and F by the solver's own adjoint; a second derivative is refused.

    Args:
        x: (nodes, features), float32 or float64, on a CPU or a GPU.
        edge_index: a graph in any form that :class:`Graph` takes, or S itself as a sparse matrix of torch or SciPy
            (non-negative, of norm at most 1), which is then used as it is.
        F: (features, features), of x's type and device.
        gamma: the contraction factor, in (0, 1].
        source: ``own``: a node starts from its own features (P = I); ``neighbours``: from its neighbours' (P = S).
        solver: ``auto``, or one of ``eignn.solver_names()``.
        edge_weight: a weight for each arc of an edge_index, non-negative.
        direction: ``undirected``; ``in``: a node receives along the arcs; ``out``: against them.
        normalise: ``sym`` D^-1/2 (A+I) D^-1/2, or ``out-in``.
        index: the nodes whose rows are wanted; all where it is None.

    What was prepared for a graph is kept and found again by the identity and version of its tensors.

    >>> import torch, eignn
    >>> x = torch.eye(3, dtype=torch.float64, requires_grad=True)
    >>> F = torch.eye(3, dtype=torch.float64, requires_grad=True)
    >>> Z = eignn.equilibrium(x, torch.tensor([[0, 1], [1, 2]]), F)
    >>> Z.sum().backward()
    >>> x.grad.shape
    torch.Size([3, 3])
    """
    check_features(x)
    check_weight(F, x)
    more: Tuple[Any, ...] = (x.requires_grad, is_sparse_matrix(edge_index), x.size(0), x.size(1), gamma, source, solver, direction, normalise,
                             self_loops, epsilon, tolerance, x.dtype, x.device)

    def make() -> Solver:
        return Solver(edge_index, x.size(1), gamma=gamma, source=source, solver=solver, edge_weight=edge_weight,
                      direction=direction, normalise=normalise, self_loops=self_loops, epsilon=epsilon,
                      tolerance=tolerance, dtype=x.dtype, device=x.device, num_nodes=x.size(0), x=x)

    return _solvers.get(edge_index, edge_weight, more, make)(F, x, index)
