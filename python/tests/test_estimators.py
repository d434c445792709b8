"""The estimators by scikit-learn's own checks, and what they do beyond."""

import numpy as np
import pytest
import torch

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import eignn  # noqa: E402

# All checks of scikit-learn apply: without a graph these are estimators like any other.
@parametrize_with_checks([eignn.EIGNNClassifier(epochs=30, patience=30, threads=1, random_state=0),
                          eignn.EIGNNRegressor(epochs=60, patience=60, threads=1, random_state=0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def ring():
    n = 120
    graph = torch.stack([torch.arange(n), (torch.arange(n) + 2) % n])
    y = np.arange(n) % 2
    x = np.random.RandomState(0).randn(n, 3) + (2 * y - 1)[:, None]
    return graph, x, y


def test_row_numbers_survive_a_grid_search(ring):
    graph, x, y = ring
    model = eignn.EIGNNClassifier(eignn.Graph(graph), features=x, epochs=40, random_state=0)
    search = GridSearchCV(model, {"lr": [0.01, 0.05]}, cv=3).fit(np.arange(120), y)
    assert search.best_score_ > 0.9 and search.best_params_["lr"] in (0.01, 0.05)
    assert cross_val_score(model, np.arange(120), y, cv=3).mean() > 0.9


def test_labels_of_any_type_and_unknown_ones(ring):
    graph, x, y = ring
    names = np.where(y == 0, "even", "odd").astype(object)
    hidden = np.arange(120) % 3 == 0
    for labels, unknown in ((names, None), (names, float("nan")), (y, -1), (y.astype(float), float("nan"))):
        given = labels.copy()
        if unknown is not None:
            given[hidden] = unknown
        model = eignn.EIGNNClassifier(graph, epochs=40, random_state=0).fit(x, given)
        assert len(model.classes_) == 2
        assert (model.predict(x) == labels)[hidden].mean() > 0.9
        assert np.allclose(model.predict_proba(x).sum(1), 1)


def test_a_clone_is_unfitted_and_equal(ring):
    graph, x, y = ring
    model = eignn.EIGNNClassifier(eignn.Graph(graph), epochs=5, lr=0.02, settings={"weight_decay": 0.0})
    other = clone(model)
    assert other.get_params()["lr"] == 0.02 and not hasattr(other, "model_")
    assert other.set_params(gamma=0.5).gamma == 0.5


def test_a_regressor_on_a_graph_fills_unknown_numbers(ring):
    graph, x, _ = ring
    y = 10 + 3 * x[:, 0]
    given = y.copy()
    given[::3] = np.nan
    model = eignn.EIGNNRegressor(graph, epochs=300, random_state=0).fit(x, given)
    assert np.corrcoef(model.predict(x)[::3], y[::3])[0, 1] > 0.8


def test_a_search_chooses_the_settings(ring):
    graph, x, y = ring
    model = eignn.EIGNNClassifier(graph, search="auto", budget=4.0, epochs=40, random_state=0).fit(x, y)
    assert model.score(x, y) > 0.8 and any(trial["chosen"] for trial in model.search_.trials)


def test_it_is_a_step_of_a_pipeline(ring):
    _, x, y = ring
    assert make_pipeline(StandardScaler(), eignn.EIGNNClassifier(epochs=60, random_state=0)).fit(x, y).score(x, y) > 0.9


@pytest.mark.parametrize("labels, words", [(np.full(120, -1), "no labels"), (np.zeros(120), "one class"), (np.zeros(5), "rows")])
def test_labels_that_cannot_be(ring, labels, words):
    graph, x, _ = ring
    with pytest.raises(ValueError, match=words):
        eignn.EIGNNClassifier(graph, epochs=5).fit(x, labels)


def test_rows_that_cannot_be(ring):
    graph, x, y = ring
    model = eignn.EIGNNClassifier(graph, features=x, epochs=5)
    for rows in (np.arange(1, 121), np.zeros(120, dtype=int), x):
        with pytest.raises(ValueError):
            model.fit(rows, y)
