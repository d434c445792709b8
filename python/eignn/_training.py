"""Training, search, trained models, explanations and attacks: what the command does, as functions."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Union

import torch

from . import _binding
from ._data import Dataset, load_dataset
from ._graphs import argument_error
from ._settings import texts_of

if TYPE_CHECKING:
    import pandas

    from .nn import EIGNN


class Predictions:
    """The predictions of a model for every node."""

    def __init__(self, model: "TrainedModel", data: Dataset) -> None:
        self.scores, self.probabilities, self.classes, self.values = model._model.predict(data._data)
        self._model, self._data = model, data

    scores: torch.Tensor
    """(nodes, classes), in the model's precision."""
    probabilities: Optional[torch.Tensor]
    """float64 (nodes, classes); None in a regression."""
    classes: Optional[torch.Tensor]
    """int64 (nodes,), the likeliest; of sets of labels uint8 (nodes, labels); None in a regression."""
    values: Optional[torch.Tensor]
    """Of a regression: float64 (nodes, numbers), in the units of the data."""

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each node: its prediction, and a column of probabilities for each class."""
        import pandas

        names = self._model.class_names
        index = pandas.Index(self._data.node_names or range(self._data.num_nodes), name="id")
        if self.values is not None:
            return pandas.DataFrame(self.values.numpy(), index=index, columns=names)
        table = pandas.DataFrame(self.probabilities.numpy(), index=index, columns=[f"p({name})" for name in names])
        if self.classes.dim() == 1:
            table.insert(0, "class", [names[k] for k in self.classes.tolist()])
        return table


class TrainedModel:
    """Weights and options of a model, which can be used on any graph with the same features.

    A checkpoint of the command line is one, and the other way round: ``save`` writes what ``eignn predict`` reads.
    """

    def __init__(self, model: _binding.TrainedModel) -> None:
        self._model = model

    @property
    def settings(self) -> Dict[str, str]:
        """All settings of its training, as texts."""
        return self._model.settings

    @property
    def task(self) -> str:
        return self._model.task

    @property
    def class_names(self) -> List[str]:
        return [self._model.class_name(k) for k in range(self._model.classes)]

    @property
    def feature_names(self) -> List[str]:
        """Of the features that the model reads; empty: they are called by their numbers."""
        return self._model.feature_names

    def state_dict(self) -> Dict[str, torch.Tensor]:
        """Copies of its weights by name."""
        return {name: weight.detach().clone() for name, weight in self._model.weights.items()}

    def predict(self, data: Dataset) -> Predictions:
        """Predicts all nodes; give the features as they are, they are treated as in the training."""
        return Predictions(self, data)

    def evaluate(self, data: Dataset, nodes: Any = None) -> Dict[str, float]:
        """Mean loss and score (accuracy, micro-F1 or R²) at these nodes; at all that have a label when not given."""
        if nodes is None:
            nodes = data.known.nonzero().flatten()
        loss, score = self._model.evaluate(data._data, _nodes(nodes))
        return {"loss": loss, "score": score}

    def recognise(self, data: Dataset) -> Dict[str, Any]:
        """Whether these are the data of the training, and who was in which part."""
        return self._model.recognise(data._data)

    def features_of(self, data: Dataset) -> torch.Tensor:
        """The features as the model reads them, float64 (nodes, features)."""
        return self._model.features_of(data._data)

    def save(self, path: Any) -> None:
        """Writes one safetensors file, which appears whole or not at all."""
        self._model.save(os.fspath(path))

    def module(self) -> "EIGNN":
        """The model as an :class:`eignn.nn.EIGNN` with these weights, in evaluation mode; its x is ``features_of(data)``."""
        from .nn import EIGNN

        settings = self.settings
        if settings["model"] != "eignn":
            raise argument_error("model", f"this is {settings['model']}", "only eignn has a module")
        own = set(name for name, *_ in _binding.settings_of("eignn"))
        keep = set(_MODULE_SETTINGS) & own
        chosen = {name.replace("-", "_"): settings[name] for name in sorted(keep) if name in settings}
        module = EIGNN(self._model.features, self._model.classes, seed=0, **chosen)
        state = self.state_dict()
        module = module.to(next(iter(state.values())).dtype)
        module.load_state_dict(state)
        return module.eval()

    def __deepcopy__(self, memo: Any) -> "TrainedModel":
        return self  # it never changes

    def __getstate__(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="eignn-") as folder:
            path = os.path.join(folder, "model.safetensors")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def __setstate__(self, content: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="eignn-") as folder:
            path = os.path.join(folder, "model.safetensors")
            with open(path, "wb") as file:
                file.write(content)
            self._model = _binding.load_model(path)

    def __repr__(self) -> str:
        return f"TrainedModel({self.settings['model']}, {self._model.features} features, {self._model.classes} {_KINDS[self.task]})"


_KINDS = {"classes": "classes", "labels": "labels", "regression": "targets"}
_MODULE_SETTINGS = (
    "head start gamma epsilon dropout encoder encoder-activation intercept equilibria source layers hidden norm skip jump width "
    "blocks solver direction normalise self-loops weight-scale"
).split()


class Run:
    """A training: ``result`` (the object of summary.json), ``model``, and ``history``, a record for each epoch."""

    def __init__(self, result: Dict[str, Any], model: TrainedModel, history: List[Dict[str, Any]]) -> None:
        self.result, self.model, self.history = result, model, history

    @property
    def test(self) -> float:
        """The score of the test nodes (``result["metric"]``)."""
        return self.result[f"test_{self.result['metric']}"]

    def history_to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.history).set_index("epoch")

    def __repr__(self) -> str:
        return f"Run({self.model!r}, {len(self.history)} epochs)"


def _nodes(nodes: Any) -> torch.Tensor:
    nodes = torch.as_tensor(nodes).detach().cpu()
    return nodes.nonzero().flatten() if nodes.dtype == torch.bool else nodes.to(torch.int64).reshape(-1)


def _progress(wanted: Optional[bool], epochs: str) -> Any:
    """A bar of tqdm where that is installed and somebody looks, or None."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=int(epochs) if epochs.isdigit() else None, unit="epoch", leave=bool(wanted))


def train(
    data: Union[Dataset, str, os.PathLike, None] = None,
    *,
    recipe: str = "",
    out: Any = None,
    resume: bool = False,
    on_epoch: Optional[Callable[[Dict[str, Any]], None]] = None,
    progress: Optional[bool] = None,
    **settings: Any,
) -> Run:
    """Trains one model on one split, as ``eignn train`` does: the same settings and seed give the same weights.

    Args:
        data: a :class:`Dataset`, or what :func:`load_dataset` takes.
        recipe: the name of a recipe; empty: that of the data set, or the table that suits it; "none": the defaults.
        out: a folder that keeps the run, as ``--out`` does.
        resume: goes on with the interrupted run in ``out``.
        on_epoch: called after each epoch with its losses and score.
        progress: a bar of tqdm; None: where it is installed and standard error is a terminal.
        settings: those of ``eignn train`` with underscores, such as model, seed, epochs, lr, split.

    Ctrl-C ends it at the end of an epoch; a run with a folder can then be resumed.

    >>> import eignn
    >>> run = eignn.train("karate", epochs=30, seed=1)
    >>> run.model
    TrainedModel(eignn, 34 features, 2 classes)
    """
    texts = texts_of(settings)
    given: Optional[_binding.Dataset] = None
    if isinstance(data, Dataset):
        given = data._data
    elif data is not None:
        texts = {**texts, "dataset": os.fspath(data)}
    elif not resume:
        raise TypeError("there are no data (data); give a Dataset, a name or a path")
    if resume and out is None:
        raise TypeError("there is no folder to resume (out); give the folder of the interrupted run")
    history: List[Dict[str, Any]] = []
    bar = _progress(progress, texts.get("epochs", ""))

    def after(report: Dict[str, Any]) -> None:
        history.append(report)
        if bar is not None:
            bar.update()
            bar.set_postfix(loss=f"{report['train_loss']:.3g}", val=f"{report['val_score']:.3f}")
        if on_epoch is not None:
            on_epoch(report)

    try:
        result, model = _binding.train(given, texts, recipe, "" if out is None else os.fspath(out), bool(resume), after)
    finally:
        if bar is not None:
            bar.close()
    return Run(json.loads(result), TrainedModel(model), history)


class Search:
    """What a search tried and chose: ``trials``, ``best`` (settings as texts) and ``results``, one of each split."""

    def __init__(self, trials: List[Dict[str, Any]], best: Dict[str, str], results: List[Dict[str, Any]]) -> None:
        self.trials, self.best, self.results = trials, best, results


def search(
    data: Union[Dataset, str, os.PathLike],
    *,
    models: Sequence[str] = ("eignn",),
    budget: float = 600.0,
    trials: int = 0,
    splits: int = 1,
    out: Any = None,
    **settings: Any,
) -> Search:
    """``eignn train --search auto``: races a portfolio of settings within a budget of seconds; validation alone chooses."""
    chosen = data if isinstance(data, Dataset) else load_dataset(data)
    tried, best, results = _binding.search(chosen._data, texts_of(settings), list(models), float(budget), int(trials),
                                           int(splits), "" if out is None else os.fspath(out))
    return Search(tried, best, [json.loads(result) for result in results])


def load_model(path: Any) -> TrainedModel:
    """Loads a model from a run folder or its model.safetensors, of Python or of the command line."""
    return TrainedModel(_binding.load_model(os.fspath(path)))


def explain(model: TrainedModel, data: Dataset, node: Any, class_name: Any = None, *, by: str = "nodes",
            raw_units: bool = False) -> "pandas.DataFrame":
    """What each node (``by="nodes"``), feature or distance (``"hops"``) gave to one score of one node.

    The contributions and the constant add up to the score, exactly so for heads that are affine (docs/explain.md). The
    frame's ``attrs`` have the score, the constant, the class and whether the sum is exact.

    >>> import eignn
    >>> data = eignn.datasets.karate()
    >>> model = eignn.train(data, recipe="paper", epochs=30, seed=1).model
    >>> why = eignn.explain(model, data, 17)
    >>> bool(abs(why["contribution"].sum() + why.attrs["constant"] - why.attrs["score"]) < 1e-4)
    True
    """
    import pandas

    if by not in ("nodes", "features", "hops"):
        raise argument_error("by", f"there is no {by!r}", "give nodes, features or hops")
    found = _binding.explain(model._model, data._data, str(node), None if class_name is None else str(class_name), raw_units)
    unit = 2.0 ** found["exponent"]
    if by == "nodes":
        number, hops, given = (each.numpy() for each in found["nodes"])
        number = number.astype(int)
        table = pandas.DataFrame({"hops": hops.astype(int), "contribution": given * unit},
                                 index=pandas.Index([data._data.node_name(k) for k in number.tolist()], name="node"))
        table.insert(0, "number", number)
    elif by == "features":
        number, given = (each.numpy() for each in found["features"])
        named = model.feature_names
        names = [named[k] if named else str(k) for k in number.astype(int).tolist()]
        table = pandas.DataFrame({"contribution": given * unit}, index=pandas.Index(names, name="feature"))
    else:
        hops, nodes, given, raising, lowering = (each.numpy() for each in found["hops"])
        table = pandas.DataFrame({"nodes": nodes.astype(int), "contribution": given * unit, "raising": raising * unit,
                                  "lowering": lowering * unit}, index=pandas.Index(hops.astype(int), name="hops"))
    table.attrs.update(node=data._data.node_name(found["node"]), class_name=model._model.class_name(found["class_number"]),
                       score=found["score"] * unit, constant=found["constant"] * unit, kind=found["kind"], exact=found["exact"])
    return table


def influence(model: TrainedModel, data: Dataset, *, sample: int = 200, seed: int = 0) -> "pandas.DataFrame":
    """How far a model sees: the mean share of influence that nodes at each distance have; ``attrs["mean_hops"]``."""
    import pandas

    found = _binding.influence(model._model, data._data, int(sample), int(seed))
    hops, nodes, share, cumulative = (each.numpy() for each in found["hops"])
    table = pandas.DataFrame({"nodes": nodes, "share": share, "cumulative": cumulative},
                             index=pandas.Index(hops.astype(int), name="hops"))
    table.attrs.update(mean_hops=found["mean_hops"], elsewhere=found["elsewhere"], sample=found["sample"])
    return table


def attack(
    model: TrainedModel,
    data: Dataset,
    nodes: Any = None,
    *,
    method: str = "pgd",
    epsilon: float = 0.01,
    step: float = 0.001,
    steps: int = 15,
    targets: str = "each",
    objective: str = "loss",
    seed: int = 0,
    certify: bool = True,
) -> Dict[str, Any]:
    """``eignn attack``: small changes of features that take the class of nodes, and what no such change can take.

    ``nodes`` are the test nodes of the first split when not given. Returns accuracy, clean_accuracy, certified_accuracy (of
    models that are linear in their features), and for each node its scores and certified_radius.
    """
    if nodes is None:
        if not data.splits:
            raise argument_error("nodes", "the data have no split", "name the nodes to attack")
        nodes = data.splits[0][2]
    return _binding.attack(model._model, data._data, _nodes(nodes), method, float(epsilon), float(step), int(steps), targets,
                           objective, int(seed), bool(certify))
