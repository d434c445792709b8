"""eignn: infinite-depth graph neural networks, solved exactly.

>>> import torch, eignn
>>> conv = eignn.nn.EIGNNConv(4, 2)          # as any convolution of PyTorch Geometric
>>> conv(torch.randn(3, 4), torch.tensor([[0, 1], [1, 2]])).shape
torch.Size([3, 2])

``equilibrium`` is the differentiable function, ``nn`` has modules, ``train`` and ``load_model`` do what the command line does,
``EIGNNClassifier`` and ``EIGNNRegressor`` are scikit-learn's manner, ``plot`` draws.
"""

from __future__ import annotations

import torch as _torch  # before the extension module, which is linked to its libraries  # noqa: F401

from . import _binding, datasets, nn
from ._data import Dataset, from_pandas, load_dataset
from ._equilibrium import Solver, equilibrium
from ._errors import (
    ArgumentError,
    ConvergenceError,
    DataError,
    EignnError,
    MissingFileError,
    OutOfMemoryError,
    ResourceError,
)
from ._graphs import Graph
from ._settings import settings_of
from ._training import (
    Predictions,
    Run,
    Search,
    TrainedModel,
    attack,
    explain,
    influence,
    load_model,
    search,
    train,
)

__version__ = _binding.version()


def solver_names() -> "list[str]":
    """The names that ``solver`` takes."""
    return _binding.solver_names()


def model_names() -> "list[str]":
    """The names that the setting ``model`` takes."""
    return _binding.model_names()


# Loaded when they are asked for: scikit-learn and matplotlib take longer than all the rest.
_LATER = {"EIGNNClassifier": "estimators", "EIGNNRegressor": "estimators", "estimators": "estimators", "plot": "plot"}


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module 'eignn' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"eignn.{_LATER[name]}")
    return module if name == _LATER[name] else getattr(module, name)


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_LATER))


__all__ = [
    "ArgumentError", "ConvergenceError", "DataError", "Dataset", "EIGNNClassifier", "EIGNNRegressor", "EignnError", "Graph",
    "MissingFileError", "OutOfMemoryError", "Predictions", "ResourceError", "Run", "Search", "Solver", "TrainedModel", "attack",
    "datasets", "equilibrium", "explain", "from_pandas", "influence", "load_dataset", "load_model", "model_names", "nn", "plot",
    "search", "settings_of", "solver_names", "train",
]
