"""Graphs from whatever a user has, and what is kept for each of them."""

from __future__ import annotations

import hashlib
import warnings
import weakref
from collections import OrderedDict
from typing import Any, Callable, Dict, Optional, Tuple

import torch

from . import _binding
from ._errors import ArgumentError


def argument_error(field: str, problem: str, remedy: str) -> ArgumentError:
    """An error of this package in the manner of the library's."""
    error = ArgumentError(f"{problem} ({field}); {remedy}")
    error.field, error.problem, error.remedy = field, problem, remedy
    return error


Arcs = Tuple[torch.Tensor, torch.Tensor, Optional[torch.Tensor], Optional[int]]


def _of_edge_index(edges: torch.Tensor, weight: Any) -> Arcs:
    if edges.dtype.is_floating_point or edges.dtype.is_complex or edges.dtype == torch.bool:
        raise TypeError(
            f"edge_index has numbers of type {str(edges.dtype)[6:]} (edge_index); node numbers are integers: edge_index.long()"
        )
    if edges.dim() != 2 or edges.size(0) != 2:
        raise argument_error(
            "edge_index", f"its shape is {tuple(edges.shape)}", "give (2, arcs), a row of sources and a row of targets"
        )
    edges = edges.detach().cpu().to(torch.int64)
    return edges[0], edges[1], weight, None


def _of_matrix(rows: int, columns: int, source: Any, target: Any, values: Any) -> Arcs:
    if rows != columns:
        raise argument_error("edge_index", f"the matrix is {rows} by {columns}", "give a square one, a row for each node")
    source, target = (torch.as_tensor(each).detach().cpu().to(torch.int64) for each in (source, target))
    return source, target, torch.as_tensor(values), rows


def _of_torch_sparse(matrix: torch.Tensor) -> Arcs:
    if matrix.dim() != 2:
        raise argument_error("edge_index", f"the sparse tensor has {matrix.dim()} dimensions", "give a matrix")
    if matrix.layout != torch.sparse_coo:
        matrix = matrix.to_sparse_coo() if hasattr(matrix, "to_sparse_coo") else matrix.to_sparse()
    matrix = matrix.detach().cpu().coalesce()
    row, column = matrix.indices()
    return _of_matrix(*matrix.shape, row, column, matrix.values())


def _of_networkx(graph: Any) -> Arcs:
    number = {node: k for k, node in enumerate(graph.nodes())}
    triples = [(number[a], number[b], data.get("weight")) for a, b, data in graph.edges(data=True)]
    if not graph.is_directed():
        triples += [(b, a, w) for a, b, w in triples if a != b]
    weighted = any(w is not None for _, _, w in triples)
    source = torch.tensor([a for a, _, _ in triples], dtype=torch.int64)
    target = torch.tensor([b for _, b, _ in triples], dtype=torch.int64)
    weight = torch.tensor([1.0 if w is None else float(w) for _, _, w in triples], dtype=torch.float64) if weighted else None
    return source, target, weight, len(number)


def _is_networkx(value: Any) -> bool:
    return hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "is_directed")


def _is_scipy(value: Any) -> bool:
    return hasattr(value, "tocoo") and hasattr(value, "shape")


def is_sparse_matrix(value: Any) -> bool:
    """Whether it is a sparse matrix of torch or SciPy, which may stand for S itself."""
    return (isinstance(value, torch.Tensor) and value.layout != torch.strided) or (
        _is_scipy(value) and not isinstance(value, torch.Tensor)
    )


def arcs_of(edges: Any, edge_weight: Any = None) -> Arcs:
    """Sources, targets, weights and the number of nodes, where they are known, of a graph in any form."""
    if isinstance(edges, torch.Tensor) and edges.layout == torch.strided:
        return _of_edge_index(edges, edge_weight)
    if edge_weight is not None:
        raise argument_error("edge_weight", "this graph has weights of its own", "leave edge_weight out, or give an edge_index")
    if isinstance(edges, torch.Tensor):
        return _of_torch_sparse(edges)
    if _is_scipy(edges):
        matrix = edges.tocoo()
        return _of_matrix(*matrix.shape, matrix.row, matrix.col, matrix.data)
    if _is_networkx(edges):
        return _of_networkx(edges)
    if getattr(edges, "edge_index", None) is not None:  # torch_geometric.data.Data
        weight = getattr(edges, "edge_weight", None)
        source, target, weight, _ = _of_edge_index(edges.edge_index, weight)
        return source, target, weight, edges.num_nodes
    if type(edges).__module__.startswith("numpy") and getattr(edges, "ndim", 0) == 2:
        return _of_edge_index(torch.as_tensor(edges), None)
    raise TypeError(
        f"a graph cannot be made of {type(edges).__name__} (edge_index); give an edge_index, a sparse matrix of torch or "
        "SciPy, a NetworkX graph, a Data of PyTorch Geometric or an eignn.Graph"
    )


def _weights(weight: Any, arcs: int) -> Optional[torch.Tensor]:
    if weight is None:
        return None
    weight = torch.as_tensor(weight)
    if weight.requires_grad:
        raise argument_error("edge_weight", "there is no gradient in the weights of arcs", "give edge_weight.detach()")
    weight = weight.detach().cpu()
    if weight.dtype.is_complex:
        raise TypeError("the weights are complex (edge_weight); give real numbers")
    weight = weight.to(torch.float64).reshape(-1)
    if weight.numel() != arcs:
        raise argument_error("edge_weight", f"there are {weight.numel()} weights for {arcs} arcs", "give one for each")
    return weight


class Graph:
    """A graph, prepared once and used often.

    ``edges`` is an ``edge_index`` (2, arcs), a sparse matrix of torch or SciPy, a NetworkX graph, a ``Data`` of PyTorch
    Geometric or another Graph. Repeated arcs are merged (their weights are added); weights are non-negative.

    >>> import torch, eignn
    >>> path = eignn.Graph(torch.tensor([[0, 1], [1, 2]]))
    >>> path
    Graph(nodes=3, arcs=2)
    >>> path.edge_index.tolist()
    [[0, 1], [1, 2]]
    """

    def __init__(self, edges: Any, num_nodes: Optional[int] = None, edge_weight: Any = None) -> None:
        if isinstance(edges, Graph):
            self._graph = edges._graph
            if num_nodes is not None and num_nodes != edges.num_nodes:
                raise argument_error("num_nodes", f"the graph has {edges.num_nodes} nodes, not {num_nodes}", "leave it out")
            return
        if isinstance(edges, _binding.Graph):
            self._graph = edges
            return
        source, target, weight, nodes = arcs_of(edges, edge_weight)
        if num_nodes is not None and nodes is not None and num_nodes != nodes:
            raise argument_error("num_nodes", f"the graph has {nodes} nodes, not {num_nodes}", "give a row of x for each node")
        if num_nodes is None:
            num_nodes = nodes
        if num_nodes is None:
            num_nodes = int(max(source.max(), target.max())) + 1 if source.numel() else 0
            if num_nodes > 10_000_000 and num_nodes > 1000 * source.numel():
                raise argument_error("edge_index", f"there are {source.numel()} arcs, and a node with the number {num_nodes - 1}",
                                     "number the nodes from 0, or give num_nodes")
        self._graph = _binding.Graph(int(num_nodes), source, target, _weights(weight, source.numel()))

    @property
    def num_nodes(self) -> int:
        return self._graph.nodes

    @property
    def num_edges(self) -> int:
        """The number of distinct arcs."""
        return self._graph.arcs

    @property
    def edge_index(self) -> torch.Tensor:
        """The distinct arcs, int64 (2, arcs), by source and then by target."""
        return self._graph.edge_index

    @property
    def edge_weight(self) -> Optional[torch.Tensor]:
        """Their weights, float64; None where all are 1."""
        return self._graph.edge_weight

    def longest_hops(self) -> int:
        """A lower bound on the largest diameter of a component; exact on trees."""
        return self._graph.longest_hops()

    def propagation(
        self, direction: str = "undirected", normalise: str = "sym", self_loops: bool = True, weight_scale: float = 0.0
    ) -> torch.Tensor:
        """S as a sparse CSR tensor (float64).

        >>> import torch, eignn
        >>> eignn.Graph(torch.tensor([[0], [1]])).propagation(self_loops=False).to_dense().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        S = _binding.make_propagation(self._graph, direction, normalise, self_loops, weight_scale)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR")  # of PyTorch 1.13, on the first one
            return torch.sparse_csr_tensor(*S.parts, size=(S.nodes, S.nodes))

    def __deepcopy__(self, memo: Any) -> "Graph":
        return self  # it never changes

    def __reduce__(self):
        return (Graph, (self.edge_index, self.num_nodes, self.edge_weight))

    def __repr__(self) -> str:
        return f"Graph(nodes={self.num_nodes}, arcs={self.num_edges})"


def _digest(parts: Tuple[Optional[torch.Tensor], ...]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(b"-" if part is None else str((part.dtype, tuple(part.shape))).encode())
        if part is not None:
            digest.update(part.contiguous().numpy().tobytes())
    return digest.digest()


class GraphCache:
    """What was made for the last few graphs.

    A tensor is known by its identity and its version, which torch counts up when it is written to; everything else,
    which has no version, by its content, read again at each call. So nothing here is ever of an older graph.
    """

    def __init__(self, capacity: int = 8) -> None:
        self._capacity = capacity
        self._seen: Dict[int, Tuple[Any, Tuple[Any, ...], bytes]] = {}
        self._made: "OrderedDict[Tuple[Any, ...], Any]" = OrderedDict()

    def get(self, edges: Any, edge_weight: Any, more: Tuple[Any, ...], make: Callable[[], Any]) -> Any:
        key = (self._key(edges, edge_weight), *more)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        made = self._made[key] = make()
        while len(self._made) > self._capacity:
            self._made.popitem(last=False)
        return made

    def _key(self, edges: Any, edge_weight: Any) -> bytes:
        if isinstance(edges, Graph):  # never changes
            return self._by_identity(edges._graph, (), lambda: self._content(edges.edge_index, edges.edge_weight, edges.num_nodes))
        if hasattr(edges, "edge_index") and not isinstance(edges, torch.Tensor):  # Data: its tensors have versions
            return self._key(edges.edge_index, getattr(edges, "edge_weight", None)) + str(edges.num_nodes).encode()
        plain = isinstance(edges, torch.Tensor) and edges.layout == torch.strided and not edges.is_inference()
        weighted = isinstance(edge_weight, torch.Tensor) and not edge_weight.is_inference()
        if plain and (edge_weight is None or weighted):
            versions = (id(edge_weight), edges._version, edge_weight._version if weighted else 0,
                        edges.data_ptr(), edge_weight.data_ptr() if weighted else 0)
            return self._by_identity(edges, versions, lambda: self._content(*arcs_of(edges, edge_weight)), edge_weight)
        return self._content(*arcs_of(edges, edge_weight))

    def _by_identity(self, value: Any, versions: Tuple[Any, ...], content: Callable[[], bytes], beside: Any = None) -> bytes:
        seen = self._seen.get(id(value))
        if seen is not None and seen[0]() is value and seen[1] == versions:
            return seen[2]
        key = content()
        if len(self._seen) > 4 * self._capacity:
            self._seen = {k: each for k, each in self._seen.items() if each[0]() is not None}
        # The weights are held, so that no other tensor takes their identity.
        try:
            self._seen[id(value)] = (weakref.ref(value), versions, key, beside)
        except TypeError:
            pass
        return key

    @staticmethod
    def _content(*parts: Any) -> bytes:
        tensors = tuple(None if part is None else torch.as_tensor(part).detach().cpu() for part in parts)
        return _digest(tensors)

    # Copies and pickles begin anew.
    def __deepcopy__(self, memo: Any) -> "GraphCache":
        return GraphCache(self._capacity)

    def __reduce__(self):
        return (GraphCache, (self._capacity,))
