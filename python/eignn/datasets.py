"""The built-in data sets.

>>> import eignn
>>> eignn.datasets.chains(length=20)
Dataset(chains: 800 nodes, 760 arcs, 100 features, 2 classes)
"""

from __future__ import annotations

from typing import List

from . import _binding
from ._data import Dataset, load_dataset

__all__ = ["chains", "karate", "names"]


def chains(length: int = 100, chains_per_class: int = 20, classes: int = 2, features: int = 100, noise: float = 0.0,
           seed: int = 0) -> Dataset:
    """The paper's synthetic chains: the first node of each chain alone tells its class, and all others must hear it."""
    return load_dataset("chains", chain_length=length, chains_per_class=chains_per_class, num_classes=classes,
                        feature_dim=features, noise=noise, seed=seed)


def karate(seed: int = 0) -> Dataset:
    """Zachary's karate club: 34 members, two factions."""
    return load_dataset("karate", seed=seed)


def names() -> List[str]:
    """What ``load_dataset`` takes besides paths."""
    return _binding.dataset_names()
