"""Wrong inputs: an ordinary exception that says what and how to mend it, never a crash."""

import random

import numpy as np
import pytest
import torch

import eignn

X = torch.randn(4, 3)
F = torch.randn(3, 3)
EDGES = torch.tensor([[0, 1, 2], [1, 2, 3]])


def says(kind, words, call, *arguments, **named):
    with pytest.raises(kind) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert words in message and "\n" not in message and len(message) > 20, message


@pytest.mark.parametrize("call", [lambda x, e, **k: eignn.equilibrium(x, e, F.to(x.dtype) if isinstance(x, torch.Tensor) and x.dtype.is_floating_point else F, **k),
                                  lambda x, e, **k: eignn.nn.EIGNNConv(3, 2)(x, e, **k),
                                  lambda x, e, **k: eignn.nn.EIGNN(3, 2, seed=0)(x, e, **k)])
def test_wrong_inputs_are_said(call):
    says(TypeError, "x", call, X.numpy(), EDGES)
    says(TypeError, "int64", call, X.long(), EDGES)
    says(TypeError, "sparse", call, X.to_sparse(), EDGES)
    says(ValueError, "(4,)", call, X[:, 0], EDGES)
    says(TypeError, "integers", call, X, EDGES.float())
    says(ValueError, "(3, 2)", call, X, EDGES.T)
    says(ValueError, "edge_index", call, X, EDGES[0])
    says(ValueError, "7", call, X, torch.tensor([[0], [7]]))
    says(ValueError, "-1", call, X, torch.tensor([[0], [-1]]))
    says(ValueError, "weight", call, X, EDGES, edge_weight=torch.tensor([1.0, -1.0, 1.0]))
    says(ValueError, "weight", call, X, EDGES, edge_weight=torch.tensor([1.0, float("nan"), 1.0]))
    says(ValueError, "2 weights for 3", call, X, EDGES, edge_weight=torch.ones(2))
    says(ValueError, "gradient", call, X, EDGES, edge_weight=torch.ones(3, requires_grad=True))
    says(ValueError, "finite", call, torch.full((4, 3), float("nan")), EDGES)
    says(TypeError, "str", call, X, "texas")
    says(TypeError, "float16", call, X.half(), EDGES)


def test_wrong_arguments_of_equilibrium():
    says(ValueError, "F", eignn.equilibrium, X, EDGES, F[:2])
    says(ValueError, "F", eignn.equilibrium, X, EDGES, torch.randn(2, 2))
    says(ValueError, "Double", eignn.equilibrium, X, EDGES, F.double())
    says(ValueError, "gamma", eignn.equilibrium, X, EDGES, F, gamma=1.5)
    says(ValueError, "spectral", eignn.equilibrium, X, EDGES, F, solver="spectrel")
    says(ValueError, "source", eignn.equilibrium, X, EDGES, F, source="both")
    says(ValueError, "norm", eignn.equilibrium, X, 5 * torch.eye(4).to_sparse(), F)
    says(ValueError, "-1", eignn.equilibrium, X, -torch.eye(4).to_sparse(), F)
    says(ValueError, "direction", eignn.equilibrium, X, EDGES, F, direction="up")
    says(ValueError, "4", eignn.equilibrium, X, EDGES, F, index=torch.tensor([4]))
    says(ValueError, "Long", eignn.equilibrium, X, EDGES, F, index=torch.tensor([1.0]))
    says(eignn.ConvergenceError, "finite", eignn.equilibrium, X, EDGES, torch.full((3, 3), float("nan")))


def test_wrong_arguments_of_modules():
    says(ValueError, "in_channels", eignn.nn.EIGNNConv, 0, 2)
    says(ValueError, "gamma", eignn.nn.EIGNNConv, 3, 2, gamma=0)
    says(ValueError, "(nodes, 5)", eignn.nn.EIGNNConv(5, 2), X, EDGES)
    says(ValueError, "(nodes, 5)", eignn.nn.EIGNN(5, 2), X, EDGES)
    says(TypeError, "float64", eignn.nn.EIGNN(3, 2), X.double(), EDGES)
    says(ValueError, "hops", eignn.nn.EIGNN, 3, 2, hops=4)
    says(ValueError, "layers", eignn.nn.EIGNN, 3, 2, layers=-1)
    says(ValueError, "device", eignn.nn.EIGNN, 3, 2, device="cuda")
    says(TypeError, "edge_index", eignn.nn.EIGNN(3, 2), X)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_devices_that_differ():
    for module in (eignn.nn.EIGNNConv(3, 2), eignn.nn.EIGNN(3, 2)):
        says(ValueError, "cuda", module, X.cuda(), EDGES)
    says(ValueError, "cuda", eignn.equilibrium, X.cuda(), EDGES, F)


def test_wrong_data_and_files(tmp_path):
    says(FileNotFoundError, "nowhere", eignn.load_model, tmp_path / "nowhere")
    says(ValueError, "", eignn.load_dataset, "texsa")
    (tmp_path / "model.safetensors").write_bytes(b"no checkpoint")
    says(ValueError, "model.safetensors", eignn.load_model, tmp_path / "model.safetensors")
    says(ValueError, "label", eignn.Dataset, EDGES, X, torch.tensor([-1, -1, -1, -1]))
    says(ValueError, "label", eignn.Dataset, EDGES, X, torch.tensor([0, 1]))
    says(ValueError, "feature", eignn.Dataset, EDGES, torch.full((4, 3), float("inf")), torch.tensor([0, 1, 0, 1]))
    data = eignn.load_dataset("karate")
    says(ValueError, "lr", eignn.train, data, lr=-1)
    says(ValueError, "epochs", eignn.train, data, epochs="many")
    says(ValueError, "one split", eignn.train, data, split="all")
    says(ValueError, "no labels", eignn.train, eignn.Dataset(EDGES, X))
    says(ValueError, "one class", eignn.train, eignn.Dataset(data.graph, data.x, torch.zeros(34, dtype=torch.int64)))
    says(ValueError, "number", eignn.Graph, torch.tensor([[0], [10**9]]))
    says(ValueError, "learning", eignn.train, data, learning=1)
    says(ValueError, "modle", eignn.train, data, modle="gcn")
    says(TypeError, "data", eignn.train)
    says(TypeError, "out", eignn.train, resume=True)
    model = eignn.train(data, epochs=2).model
    says(ValueError, "node", eignn.explain, model, data, 99)
    says(ValueError, "class", eignn.explain, model, data, 1, "none")
    says(ValueError, "epsilon", eignn.attack, model, data, epsilon=-1)
    says(ValueError, "features", model.predict, eignn.Dataset(EDGES, X))


def test_a_thousand_random_wrong_calls_leave_the_interpreter_alive():
    dice = random.Random(0)
    tensors = [X, X.double(), X.long(), X[:, :2], X[0], X.to_sparse(), torch.empty(0, 3), torch.empty(4, 0), X.T, None, "x", 3,
               X * float("nan"), torch.tensor(float("inf")), X.bool(), X.to(torch.complex64), X.expand(2, 4, 3), np.ones((4, 3)), [1.0]]
    graphs = [EDGES, EDGES.float(), EDGES.T, EDGES[0], EDGES - 2, EDGES + 9, EDGES[:, :0], None, "karate", 5, EDGES.bool(),
              torch.eye(4).to_sparse(), torch.ones(4, 3).to_sparse(), -torch.eye(4).to_sparse(), EDGES * 2**40, [], {}, object()]
    weights = [None, torch.ones(3), -torch.ones(3), torch.ones(2), torch.full((3,), float("nan")), "w", torch.ones(3, 1), torch.zeros(3)]
    matrices = [F, F.double(), F[:2], None, torch.zeros(3, 3), torch.full((3, 3), float("inf")), torch.empty(0, 0), "F", F.long(), F.to_sparse()]
    gammas = [0.8, 0, -1, 2, float("nan"), "a", None, 1.0]
    solvers = [*eignn.solver_names(), "none", "", None, 3]
    indices = [None, torch.tensor([0]), torch.tensor([-1]), torch.tensor([4]), torch.tensor([[0]]), torch.tensor([0.5]), "i", [0]]
    allowed = (ValueError, TypeError, ArithmeticError, RuntimeError, AttributeError)
    refused = 0
    for _ in range(1000):
        x, graph, weight = dice.choice(tensors), dice.choice(graphs), dice.choice(weights)
        kind = dice.randrange(4)
        try:
            if kind == 0:
                eignn.equilibrium(x, graph, dice.choice(matrices), gamma=dice.choice(gammas), solver=dice.choice(solvers),
                                  source=dice.choice(["own", "neighbours", "all", 1]), edge_weight=weight, index=dice.choice(indices))
            elif kind == 1:
                eignn.nn.EIGNNConv(dice.choice([3, 2, 0, -1]), dice.choice([2, 0, 1]), gamma=dice.choice(gammas[:4]))(x, graph, weight)
            elif kind == 2:
                settings = dice.choice([{}, {"norm": "batch"}, {"layers": 2, "hidden": 3}, {"encoder": -3}, {"nothing": 1}])
                eignn.nn.EIGNN(dice.choice([3, 2]), dice.choice([2, 1]), **settings)(x, graph, weight, index=dice.choice(indices))
            else:
                eignn.Dataset(graph, x, dice.choice([torch.tensor([0, 1, 0, 1]), torch.tensor([0.5] * 4), None, torch.tensor([-5, 0, 1, 2]), "y"]))
        except allowed:
            refused += 1
    assert 800 < refused <= 1000
    assert torch.isfinite(eignn.equilibrium(X, EDGES, F)).all()
