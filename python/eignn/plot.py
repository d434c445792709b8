"""Pictures of runs, models and graphs, with matplotlib. Each function draws on ``ax``, or on new axes, and returns them.

>>> import matplotlib; matplotlib.use("Agg")
>>> import eignn
>>> run = eignn.train("karate", epochs=20, seed=1)
>>> eignn.plot.learning_curves(run).get_xlabel()
'epoch'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

import torch

from ._graphs import Graph
from ._training import Run, TrainedModel

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

__all__ = ["accuracy_by_hop", "contributions_by_hop", "influence_by_hop", "learning_curves", "spectrum"]


def _axes(ax: Optional["Axes"], x: str, y: str) -> "Axes":
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(6, 3.6), layout="constrained")[1]
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def accuracy_by_hop(runs: Union[Run, Mapping[str, Run]], ax: Optional["Axes"] = None) -> "Axes":
    """Test accuracy by the distance to the informative node: of a run on chains, or of several by name."""
    ax = _axes(ax, "hops from the informative node", "test accuracy")
    several = {"": runs} if isinstance(runs, Run) else runs
    for name, run in several.items():
        bands = [band for band in run.result.get("accuracy_by_distance", []) if band["nodes"] > 0]
        if not bands:
            raise ValueError("this run has no accuracy by distance (runs); train on eignn.datasets.chains")
        ax.plot([(band["from"] + band["to"]) / 2 for band in bands], [band["accuracy"] for band in bands], "o-", label=name or None)
    ax.set_ylim(-0.03, 1.06)
    if any(several):
        ax.legend(loc="lower right")
    return ax


def learning_curves(run: Run, ax: Optional["Axes"] = None) -> "Axes":
    """Losses of training and validation over the epochs; the kept epoch is marked."""
    ax = _axes(ax, "epoch", "loss")
    epochs = [report["epoch"] for report in run.history]
    for key, name in (("train_loss", "training"), ("val_loss", "validation")):
        ax.plot(epochs, [report[key] for report in run.history], label=name)
    kept = [report for report in run.history if report["kept"]]
    if kept:
        ax.axvline(kept[-1]["epoch"], color="grey", linewidth=0.8, linestyle="--", label="kept")
    ax.legend()
    return ax


def spectrum(of: Any, ax: Optional["Axes"] = None) -> "Axes":
    """Eigenvalues, largest first: of S for a graph, of g(F) for a trained model, a module with an F, or an F."""
    if isinstance(of, TrainedModel):
        found = [weight for name, weight in of.state_dict().items() if name.split(".")[-1].startswith("F")]
    elif isinstance(of, torch.nn.Module):
        found = [weight for name, weight in of.named_parameters() if name.split(".")[-1].startswith("F")]
    elif isinstance(of, torch.Tensor) and of.dtype.is_floating_point and of.layout == torch.strided:
        found = [of]
    else:
        S = Graph(of).propagation().to_dense()
        ax = _axes(ax, "number", "eigenvalue of S")
        ax.plot(torch.linalg.eigvalsh(S).flip(0).numpy(), ".")
        return ax
    ax = _axes(ax, "number", "eigenvalue of g(F)")
    for k, F in enumerate(found):
        F = F.detach().cpu().double()
        gram = F.T @ F
        values = torch.linalg.eigvalsh(gram / (gram.norm() + 1e-12)).flip(0)
        ax.semilogy(range(1, len(values) + 1), values.clamp_min(1e-16).numpy(), ".-", label=f"F{k}" if len(found) > 1 else None)
    if len(found) > 1:
        ax.legend()
    return ax


def contributions_by_hop(table: "pandas.DataFrame", ax: Optional["Axes"] = None) -> "Axes":
    """What nodes at each distance gave to a score: of ``eignn.explain(…, by="hops")``."""
    if "raising" not in table.columns:
        raise ValueError('these are no contributions by distance (table); give eignn.explain(..., by="hops")')
    ax = _axes(ax, "hops", f"contribution to the score of {table.attrs.get('class_name', 'the class')}")
    ax.bar(table.index, table["raising"], label="raising")
    ax.bar(table.index, table["lowering"], label="lowering")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.legend()
    return ax


def influence_by_hop(table: "pandas.DataFrame", ax: Optional["Axes"] = None) -> "Axes":
    """The share of influence by distance, of ``eignn.influence``."""
    ax = _axes(ax, "hops", "share of the influence")
    ax.bar(table.index, table["share"])
    ax.axvline(table.attrs["mean_hops"], color="black", linewidth=0.8, linestyle="--", label="mean")
    ax.legend()
    return ax
