"""EIGNN in the manner of scikit-learn.

The graph is a parameter of the constructor, so that row numbers as X survive ``GridSearchCV``::

    model = EIGNNClassifier(graph=data, epochs=200)          # data: a Dataset or Data, with features
    GridSearchCV(model, {"lr": [0.01, 0.1]}).fit(np.arange(data.num_nodes), labels)

With a graph that has no features, X is the matrix of features, a row for each node; without a graph (``graph=None``)
there are no edges, and X and y are those of any other estimator.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._data import Dataset
from ._graphs import Graph
from ._training import search, train

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        return estimator._validate_data(*args, **kwargs)


__all__ = ["EIGNNClassifier", "EIGNNRegressor"]


def _is_missing(values: np.ndarray) -> np.ndarray:
    """NaN and None in an array of any type."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([v is None or (isinstance(v, float) and v != v) for v in values.ravel()]).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)


def _split(groups: List[np.ndarray], fraction: float, random: np.random.RandomState) -> Tuple[torch.Tensor, ...]:
    """Nodes to train on, to validate by, and one to test, of which the engine asks one and nobody reads the score."""
    trained: List[List[int]] = []
    val: List[int] = []
    for nodes in groups:
        order = random.permutation(nodes).tolist()
        count = min(int(round(fraction * len(order))), len(order) - 1)
        val += order[:count]
        trained.append(order[count:])
    while len(val) < 2:
        val.append(max(trained, key=len).pop())
    random.shuffle(val)
    return tuple(torch.tensor(part, dtype=torch.int64) for part in (sum(trained, []), val[1:], val[:1]))


class _Estimator(BaseEstimator):
    def __init__(
        self,
        graph: Any = None,
        *,
        features: Any = None,
        model: str = "eignn",
        recipe: str = "",
        epochs: int = 300,
        patience: int = 100,
        lr: Optional[float] = None,
        weight_decay: Optional[float] = None,
        gamma: Optional[float] = None,
        dropout: Optional[float] = None,
        encoder: Optional[int] = None,
        source: Optional[str] = None,
        direction: Optional[str] = None,
        settings: Optional[Dict[str, Any]] = None,
        search: Optional[str] = None,
        budget: float = 60.0,
        validation_fraction: float = 0.2,
        dtype: str = "float64",
        device: str = "cpu",
        threads: int = 0,
        random_state: Any = None,
    ) -> None:
        self.graph = graph
        self.features = features
        self.model = model
        self.recipe = recipe
        self.epochs = epochs
        self.patience = patience
        self.lr = lr
        self.weight_decay = weight_decay
        self.gamma = gamma
        self.dropout = dropout
        self.encoder = encoder
        self.source = source
        self.direction = direction
        self.settings = settings
        self.search = search
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.dtype = dtype
        self.device = device
        self.threads = threads
        self.random_state = random_state

    # ---- what X means

    def _own_data(self) -> Optional[Dataset]:
        """The graph with its features, where it has some: then X has row numbers."""
        if self.graph is None:
            return None
        if isinstance(self.graph, Dataset):
            return self.graph
        if self.features is not None:
            return Dataset(self.graph, torch.as_tensor(np.asarray(self.features, dtype=np.float64)))
        if getattr(self.graph, "x", None) is not None:
            return Dataset(self.graph, self.graph.x.double())
        return None

    def _rows(self, X: Any, nodes: int) -> np.ndarray:
        rows = np.asarray(X)
        if rows.ndim == 2 and rows.shape[1] == 1:
            rows = rows[:, 0]
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError("X has no row numbers: the graph has features of its own, and X says which of its nodes are meant; "
                             "give integers such as numpy.arange(nodes)")
        if rows.size and (rows.min() < 0 or rows.max() >= nodes):
            raise ValueError(f"X has the row {rows.min() if rows.min() < 0 else rows.max()}, and the graph {nodes} nodes, numbered from 0")
        return rows

    def _on_graph(self, X: np.ndarray) -> Dataset:
        if self.graph is None:
            graph = Graph(torch.empty((2, 0), dtype=torch.int64), X.shape[0])
        else:
            graph = Graph(self.graph)
            if X.shape[0] != graph.num_nodes:
                raise ValueError(f"X has {X.shape[0]} rows, and the graph {graph.num_nodes} nodes; give a row for each node")
        return Dataset(graph, torch.from_numpy(np.array(X, dtype=np.float64)))

    def _read(self, X: Any, reset: bool) -> Tuple[Dataset, np.ndarray]:
        """The data set without labels, and the nodes that the rows of X are."""
        own = self._own_data()
        if own is not None:
            if reset:
                self.n_features_in_ = 1
            return own, self._rows(X, own.num_nodes)
        data = self._on_graph(validate_data(self, X, dtype=np.float64, reset=reset))
        return data, np.arange(data.num_nodes)

    # ---- training

    def _train(self, data: Dataset, seed: int) -> None:
        given: Dict[str, Any] = {
            "model": self.model, "epochs": self.epochs, "patience": self.patience, "lr": self.lr,
            "weight_decay": self.weight_decay, "gamma": self.gamma, "dropout": self.dropout, "encoder": self.encoder,
            "source": self.source, "direction": self.direction, "dtype": self.dtype, "device": self.device,
            "threads": self.threads, "seed": seed, **(self.settings or {}),
        }
        if self.search not in (None, "auto"):
            raise ValueError(f"search is {self.search!r}; give 'auto' or None")
        if self.search == "auto":
            kept = {name: given.pop(name) for name in ("epochs", "patience")}
            found = search(data, models=[given.pop("model")], budget=self.budget, **given)
            self.search_ = found
            best = {name.replace("-", "_"): text for name, text in found.best.items() if name != "dataset"}
            given = {**best, **{name: kept[name] for name in ("epochs", "patience") if name not in best}}
            run = train(data, recipe="none", progress=False, **given)
        else:
            run = train(data, recipe=self.recipe, progress=False, **given)
        self.model_, self.result_, self.history_ = run.model, run.result, run.history
        self.n_iter_ = len(run.history)

    def _scores_of(self, X: Any) -> Any:
        check_is_fitted(self)
        data, rows = self._read(X, reset=False)
        return self.model_.predict(data), rows

    def _labels(self, X: Any, y: Any, numeric: bool) -> Tuple[Dataset, np.ndarray, np.ndarray, np.ndarray]:
        """The data set, its labelled nodes, their labels, and y as an array."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: there are no labels")
        if self.graph is None:
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=numeric)
            return self._on_graph(X), np.arange(len(y)), y, y
        data, nodes = self._read(X, reset=True)
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        if len(y) != len(nodes):
            raise ValueError(f"X has {len(nodes)} rows, and y {len(y)}; give a label for each, -1 or NaN where it is not known")
        unknown = _is_missing(y)
        if not numeric and y.dtype.kind in "iufO" and not y.dtype.kind == "U":
            unknown |= np.array([isinstance(v, (int, float, np.number)) and v == -1 for v in y])
        if len(np.unique(nodes)) != len(nodes):
            raise ValueError("X has a row twice; give each node once")
        if unknown.all():
            raise ValueError("there are no labels in y: all are -1 or NaN")
        return data, nodes[~unknown], y[~unknown], y

    def _few(self, labelled: int) -> None:
        if labelled < 4:
            raise ValueError(f"there are n_samples = {labelled} labelled rows, of which some are needed to validate; give at least 4")


class EIGNNClassifier(ClassifierMixin, _Estimator):
    """Classes of nodes, in the manner of scikit-learn.

    Args:
        graph: a :class:`Dataset` or a ``Data`` with features (X has row numbers then), any other graph (X has a row of
            features for each node), or None: no edges.
        features: the features of a graph that has none of its own; X has row numbers then.
        model, recipe, epochs, patience, lr, weight_decay, gamma, dropout, encoder, source, direction, dtype, device, threads:
            settings of a run; None: the recipe's. ``settings`` has any others.
        search: ``auto``: a search within ``budget`` seconds chooses the settings.
        validation_fraction: the share of the labelled rows that stops the training and is not trained on.

    Labels may be of any type; with a graph, -1 and NaN say that one is not known.

    >>> import numpy as np, eignn
    >>> data = eignn.datasets.karate()
    >>> model = eignn.EIGNNClassifier(data, epochs=50, random_state=0)
    >>> model = model.fit(np.arange(34), np.where(data.y.numpy() == 0, "Mr. Hi", "Officer"))
    >>> sorted(set(model.predict(np.arange(34)).tolist()))
    ['Mr. Hi', 'Officer']
    """

    def fit(self, X: Any, y: Any) -> "EIGNNClassifier":
        data, nodes, labels, _ = self._labels(X, y, numeric=False)
        check_classification_targets(labels)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        self._few(len(nodes))
        if len(self.classes_) < 2:
            raise ValueError(f"there is one class only, {self.classes_[0]!r}; a classifier needs at least two classes")
        random = check_random_state(self.random_state)
        groups = [nodes[numbers == k] for k in range(len(self.classes_))]
        split = _split(groups, self.validation_fraction, random)
        column = torch.full((data.num_nodes,), -1, dtype=torch.int64)
        column[torch.from_numpy(nodes)] = torch.from_numpy(numbers.reshape(-1))
        names = [str(k) for k in self.classes_]
        names = names if len(set(names)) == len(names) else []
        labelled = Dataset(data._data.relabelled(column, names, len(self.classes_), split))
        self._train(labelled, int(random.randint(2**31 - 1)))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        found, rows = self._scores_of(X)
        return found.probabilities.numpy()[rows]

    def predict(self, X: Any) -> np.ndarray:
        found, rows = self._scores_of(X)
        return self.classes_[found.classes.numpy()[rows]]


class EIGNNRegressor(RegressorMixin, _Estimator):
    """Numbers of nodes, in the manner of scikit-learn; the arguments are those of :class:`EIGNNClassifier`.

    >>> import numpy as np, eignn
    >>> x = np.linspace(0, 1, 30).reshape(-1, 1)
    >>> model = eignn.EIGNNRegressor(epochs=200, random_state=0).fit(x, 3 * x[:, 0])
    >>> model.predict(x).shape
    (30,)
    """

    def fit(self, X: Any, y: Any) -> "EIGNNRegressor":
        data, nodes, labels, _ = self._labels(X, y, numeric=True)
        labels = np.asarray(labels, dtype=np.float64)
        self._few(len(nodes))
        random = check_random_state(self.random_state)
        split = _split([nodes], self.validation_fraction, random)
        column = torch.full((data.num_nodes, 1), float("nan"), dtype=torch.float64)
        column[torch.from_numpy(nodes)] = torch.from_numpy(labels).reshape(-1, 1)
        self._train(Dataset(data._data.relabelled(column, [], 1, split)), int(random.randint(2**31 - 1)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        found, rows = self._scores_of(X)
        return found.values.numpy()[rows, 0]
