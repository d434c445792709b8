"""What the tests share."""

import os

# Before libtorch starts its threads: the problems are small, and threads that spin while they wait would take the machine
# from the tests that run beside these.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402


def dense_equilibrium(x, S, F, gamma=0.8, source="own", epsilon=1e-12):
    """Z = γ Sᵀ Z g + P x, by one dense solve of all n·m unknowns."""
    n, m = x.shape
    gram = F.T @ F
    g = gram / (np.linalg.norm(gram) + epsilon)
    start = S.T @ x if source == "neighbours" else x
    # vec by rows: (Sᵀ Z g) = (Sᵀ ⊗ gᵀ) vec(Z)
    system = np.eye(n * m) - gamma * np.kron(S.T, g.T)
    return np.linalg.solve(system, start.reshape(-1)).reshape(n, m)


def dense_S(n, source, target, weight=None, direction="undirected", self_loops=True):
    """D^-1/2 (A+I) D^-1/2, with the weights divided by their mean."""
    A = np.zeros((n, n))
    weight = np.ones(len(source)) if weight is None else np.asarray(weight) / np.mean(weight)
    for s, t, w in zip(source, target, weight):
        A[s, t] = w
    if direction == "undirected":
        A = np.maximum(A, A.T)
    if direction == "out":
        A = A.T
    if self_loops:
        A = A + np.eye(n)
    d = A.sum(1)
    half = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    return half[:, None] * A * half[None, :]


@pytest.fixture
def path():
    """0 → 1 → 2 → 3 → 4 and 1 → 4."""
    return torch.tensor([[0, 1, 2, 3, 1], [1, 2, 3, 4, 4]])


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    np.random.seed(0)
