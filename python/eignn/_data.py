"""Data sets: read, made of tensors or data frames, and written as data frames."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from . import _binding
from ._graphs import Graph, argument_error
from ._settings import texts_of

if TYPE_CHECKING:
    import pandas

Split = Tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _indices(part: Any) -> torch.Tensor:
    part = torch.as_tensor(part).detach().cpu()
    return part.nonzero().flatten() if part.dtype == torch.bool else part.to(torch.int64)


class Dataset:
    """A graph with features, labels and splits.

    ``load_dataset`` and ``from_pandas`` make one of files and data frames; this constructor makes one of tensors.

    Args:
        graph: anything that :class:`Graph` takes, or a ``Data`` of PyTorch Geometric with x, y and masks.
        x: (nodes, features), floating-point numbers.
        y: int64 (nodes,), -1 where the class is not known; uint8 (nodes, labels), sets of labels; or floating-point
            numbers to predict, NaN where they are not known. None: a graph for prediction alone.
        splits: (train, val, test), node numbers or masks, or a list of such; where None one is drawn by the seed.

    >>> import torch, eignn
    >>> ring = torch.stack([torch.arange(12), (torch.arange(12) + 2) % 12])
    >>> data = eignn.Dataset(ring, torch.eye(12), torch.arange(12) % 2)
    >>> data
    Dataset(memory: 12 nodes, 12 arcs, 12 features, 2 classes)
    """

    def __init__(
        self,
        graph: Any,
        x: Optional[torch.Tensor] = None,
        y: Optional[torch.Tensor] = None,
        *,
        splits: Optional[Sequence[Any]] = None,
        num_classes: Optional[int] = None,
        class_names: Sequence[str] = (),
        node_names: Sequence[str] = (),
        feature_names: Sequence[str] = (),
        name: str = "memory",
        seed: int = 0,
    ) -> None:
        if isinstance(graph, _binding.Dataset):
            self._data = graph
            return
        if x is None and getattr(graph, "x", None) is not None:  # a Data
            x = graph.x
            y = graph.y if y is None else y
            masks = [getattr(graph, part, None) for part in ("train_mask", "val_mask", "test_mask")]
            if splits is None and all(mask is not None for mask in masks):
                columns = masks[0].size(1) if masks[0].dim() == 2 else 0
                splits = [tuple(mask[:, k] for mask in masks) for k in range(columns)] if columns else tuple(masks)
        if x is None:
            raise TypeError("there are no features (x); give a tensor (nodes, features)")
        x = torch.as_tensor(x)
        if x.dim() != 2:
            raise argument_error("x", f"its shape is {tuple(x.shape)}", "give (nodes, features)")
        given: List[Split] = []
        if splits is not None:
            several = [splits] if len(splits) == 3 and not isinstance(splits[0], (tuple, list)) else splits
            given = [tuple(_indices(part) for part in each) for each in several]  # type: ignore[misc]
        if y is not None:
            y = torch.as_tensor(y)
            if not (y.dtype.is_floating_point or y.dtype in (torch.uint8, torch.int64)):
                y = y.to(torch.int64)
        made = Graph(graph, x.size(0))
        self._data = _binding.Dataset(made._graph, x, y, given, num_classes, list(class_names), list(node_names),
                                      list(feature_names), name, int(seed))

    @property
    def name(self) -> str:
        return self._data.name

    @property
    def num_nodes(self) -> int:
        return self._data.graph.nodes

    @property
    def graph(self) -> Graph:
        return Graph(self._data.graph)

    @property
    def edge_index(self) -> torch.Tensor:
        """The distinct arcs, int64 (2, arcs)."""
        return self._data.graph.edge_index

    @property
    def edge_weight(self) -> Optional[torch.Tensor]:
        return self._data.graph.edge_weight

    @property
    def x(self) -> torch.Tensor:
        """The features, float64 (nodes, features); of a table its own values, NaN where there is a gap."""
        return self._data.features

    @property
    def y(self) -> Optional[torch.Tensor]:
        return self._data.labels

    @property
    def known(self) -> Optional[torch.Tensor]:
        """Whether the label of each node is known."""
        return self._data.known

    @property
    def task(self) -> str:
        """``classes``, ``labels`` (sets of them) or ``regression``."""
        return self._data.task

    @property
    def num_classes(self) -> int:
        """Classes, labels or numbers to predict."""
        return self._data.classes

    @property
    def class_names(self) -> List[str]:
        return [self._data.class_name(k) for k in range(self._data.classes)]

    @property
    def node_names(self) -> List[str]:
        """Empty: nodes are called by their numbers."""
        return self._data.node_names

    @property
    def feature_names(self) -> List[str]:
        return [self._data.feature_name(k) for k in range(self._data.features.size(1))]

    @property
    def splits(self) -> List[Split]:
        """(train, val, test) of each split, as node numbers."""
        return self._data.splits

    @property
    def distance(self) -> List[int]:
        """Of the chains: hops from the informative node."""
        return self._data.distance

    def with_node(self, name: str, features: Mapping[str, Any], neighbours: Sequence[Any]) -> "Dataset":
        """The same with one node more, the last one; ``neighbours`` are names, or (name, weight)."""
        pairs = [(n, 1.0) if isinstance(n, str) else (str(n[0]), float(n[1])) for n in neighbours]
        return Dataset(_binding.with_node(self._data, name, [(k, str(v)) for k, v in features.items()], pairs))

    def inspect(self, **settings: Any) -> Dict[str, Any]:
        """What there is to know before a model is trained: ``eignn inspect --json``."""
        import json

        return json.loads(_binding.inspect(self._data, texts_of(settings)))

    def to_pandas(self) -> Tuple["pandas.DataFrame", "pandas.DataFrame"]:
        """Data frames of the arcs (source, target, weight) and of the nodes (features, then ``class``)."""
        import pandas

        names = self.node_names or list(range(self.num_nodes))
        source, target = self.edge_index.tolist()
        arcs = {"source": [names[v] for v in source], "target": [names[v] for v in target]}
        if self.edge_weight is not None:
            arcs["weight"] = self.edge_weight.tolist()
        nodes = pandas.DataFrame(index=pandas.Index(names, name="id"))
        for k, (column, values) in enumerate(zip(self.feature_names, self.x.T.tolist())):
            words = self._data.columns[k][1] if self._data.columns else []
            nodes[column] = [words[int(v)] if v == v else None for v in values] if words else values
        if self.y is not None:
            if self.task == "classes":
                nodes["class"] = [self._data.class_name(k) if k >= 0 else None for k in self.y.tolist()]
            else:
                for k in range(self.num_classes):
                    nodes[self._data.class_name(k)] = self.y[:, k].tolist()
        return pandas.DataFrame(arcs), nodes

    def __deepcopy__(self, memo: Any) -> "Dataset":
        return self  # it never changes

    def __reduce__(self):
        if any(words for _, words in self._data.columns):
            raise TypeError("a data set with categories cannot be pickled; keep its data frames (to_pandas)")
        names = [name for name, _ in self._data.columns]
        return (_dataset, (self.graph, self.x, self.y, self.splits, self.num_classes, self._data.class_names,
                           self.node_names, names, self.name))

    def __repr__(self) -> str:
        told = {"classes": "classes", "labels": "labels", "regression": "targets"}[self.task] if self.y is not None else ""
        labels = f", {self.num_classes} {told}" if told else ", no labels"
        return (f"Dataset({self.name}: {self.num_nodes} nodes, {self._data.graph.arcs} arcs, "
                f"{self._data.features.size(1)} features{labels})")


def _dataset(graph, x, y, splits, num_classes, class_names, node_names, feature_names, name) -> Dataset:
    return Dataset(graph, x, y, splits=splits or None, num_classes=num_classes if y is not None else None,
                   class_names=class_names, node_names=node_names, feature_names=feature_names, name=name)


def load_dataset(name_or_path: Any, *, model: Any = None, **settings: Any) -> Dataset:
    """A built-in set ("chains", "karate"), a named public set in the folders of $EIGNN_DATA, or a path.

    ``settings`` are those of ``eignn train`` that concern data: seed, label, ignore_columns, task, edge_weights, drawn, and of
    the chains chain_length, chains_per_class, num_classes, feature_dim, noise. With ``model``, a trained one, tables are
    read as they were in its training.

    >>> import eignn
    >>> eignn.load_dataset("karate")
    Dataset(karate: 34 nodes, 156 arcs, 34 features, 2 classes)
    """
    texts = texts_of({**settings, "dataset": os.fspath(name_or_path)})
    columns: List[Tuple[str, str]] = []
    if model is not None:
        columns = model._model.columns
        own = model._model.settings
        texts = {**{k: own[k] for k in ("label", "ignore-columns", "task", "edge-weights") if own.get(k)}, **texts}
    return Dataset(_binding.load_dataset(texts, columns))


def from_pandas(
    edges: "pandas.DataFrame",
    nodes: "pandas.DataFrame",
    *,
    label: Any = None,
    source: Optional[str] = None,
    target: Optional[str] = None,
    weight: Optional[str] = None,
    id: Optional[str] = None,
    split: Optional[str] = None,
    model: Any = None,
    **settings: Any,
) -> Dataset:
    """A data set of two data frames, by the rules of ``nodes.csv`` and ``edges.csv`` (docs/data.md).

    Args:
        edges: a row for each edge; its first two columns, or ``source`` and ``target``, name the nodes.
        nodes: a row for each node, called by its column ``id`` or by its index; numbers and categories are features.
        label: the column of the labels, or several; a missing value is a label that is not known.
        split: a column with train, val and test.

    >>> import pandas, eignn
    >>> people = pandas.DataFrame({"age": [31, 40, 25, 33, 52, 47], "team": ["a", "a", "a", "b", "b", "b"]}, index=list("uvwxyz"))
    >>> friends = pandas.DataFrame({"from": list("uvxy"), "to": list("vwyz")})
    >>> eignn.from_pandas(friends, people, label="team")
    Dataset(memory: 6 nodes, 4 arcs, 1 features, 2 classes)
    """
    for frame, field in ((edges, "edges"), (nodes, "nodes")):
        if not hasattr(frame, "to_csv"):
            raise TypeError(f"{field} is a {type(frame).__name__} ({field}); give a pandas.DataFrame")
    columns = list(edges.columns)
    if len(columns) < 2:
        raise argument_error("edges", f"there are {len(columns)} columns", "give at least a source and a target")
    source = columns[0] if source is None else source
    target = next(c for c in columns if c != source) if target is None else target
    labels = [label] if isinstance(label, str) else list(label or [])
    for frame, names, field in ((edges, [source, target, weight], "edges"), (nodes, [id, split, *labels], "nodes")):
        for column in names:
            if column is not None and column not in frame.columns:
                raise argument_error(field, f"there is no column {column!r}", f"there are {', '.join(map(repr, frame.columns))}")
    arcs = edges.rename(columns={source: "source", target: "target", **({weight: "weight"} if weight else {})})
    arcs = arcs[["source", "target"] + (["weight"] if "weight" in arcs.columns else [])]
    table = nodes.set_index(id) if id is not None else nodes
    table = table.rename(columns={split: "split"}) if split else table
    with tempfile.TemporaryDirectory(prefix="eignn-") as folder:
        arcs.to_csv(os.path.join(folder, "edges.csv"), index=False)
        table.to_csv(os.path.join(folder, "nodes.csv"), index_label="id")
        given = {**settings, **({"label": ",".join(labels)} if labels else {})}
        data = load_dataset(folder, model=model, **given)
    data._data.name = "memory"
    return data
