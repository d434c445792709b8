"""The modules inside a user's own model: gradients, state, copies, caches, and every form of a graph."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch

import eignn
from conftest import dense_equilibrium, dense_S

FAMILY = [
    {},
    {"encoder": 4},
    {"encoder": 4, "encoder_activation": "relu", "norm": "l2", "dropout": 0.0},
    {"norm": "batch"},
    {"norm": "layer", "intercept": True},
    {"head": "residual", "width": 6, "blocks": 1},
    {"source": "neighbours", "self_loops": False},
    {"source": "both", "direction": ["in", "out"], "normalise": "out-in"},
    {"layers": 2, "hidden": 4, "norm": "layer", "skip": True},
    {"layers": 3, "hidden": 4, "jump": "max", "equilibria": 2},
]


def scores_by_hand(conv, x, path):
    F, weight, bias = (each.detach().numpy() for each in (conv.F, conv.weight, conv.bias))
    return dense_equilibrium(x.detach().numpy() @ weight.T, dense_S(5, *path.tolist()), F, conv.gamma, conv.source) + bias


@pytest.mark.parametrize("source", ["own", "neighbours"])
def test_the_convolution_agrees_with_a_dense_solve(path, source):
    conv = eignn.nn.EIGNNConv(4, 3, source=source, gamma=0.9).double()
    x = torch.randn(5, 4, dtype=torch.float64)
    np.testing.assert_allclose(conv(x, path).detach().numpy(), scores_by_hand(conv, x, path), rtol=1e-9, atol=1e-11)


def gradients_agree(module, x, path, **arguments):
    """Each gradient against central differences in a random direction, dropout being off."""
    x = x.clone().requires_grad_()
    weights = [w for w in module.parameters() if w.requires_grad]
    mix = torch.randn_like(module(x, path, **arguments))
    loss = lambda: (module(x, path, **arguments) * mix).sum()  # noqa: E731
    found = torch.autograd.grad(loss(), [x, *weights], allow_unused=True)
    for tensor, gradient in zip([x, *weights], found):
        gradient = torch.zeros_like(tensor) if gradient is None else gradient
        along = torch.randn_like(tensor)
        step = 1e-6
        with torch.no_grad():
            tensor.add_(step * along)
            above = loss()
            tensor.sub_(2 * step * along)
            below = loss()
            tensor.add_(step * along)
        expected = (above - below) / (2 * step)
        torch.testing.assert_close((gradient * along).sum(), expected, rtol=2e-5, atol=1e-7)


def test_gradients_of_the_convolution(path):
    gradients_agree(eignn.nn.EIGNNConv(4, 3).double(), torch.randn(5, 4, dtype=torch.float64), path)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("settings", FAMILY)
def test_gradients_of_the_whole_family(path, settings, training):
    module = eignn.nn.EIGNN(4, 2, seed=1, **settings).double().train(training)
    if settings.get("norm") == "batch":
        module.norm.running_mean.normal_()
    x = torch.randn(5, 4, dtype=torch.float64)
    if training and settings.get("norm") == "batch":
        # The running moments move in training, and have no part in its scores.
        gradients_agree(module, x, path)
        return
    gradients_agree(module, x, path)
    gradients_agree(module, x, path, index=torch.tensor([4, 1]))


def test_a_plain_eignn_is_the_papers_formula(path):
    module = eignn.nn.EIGNN(4, 2, seed=0).double()
    x = torch.randn(5, 4, dtype=torch.float64)
    F, B = module.F.detach().numpy(), module.B.detach().numpy()
    expected = dense_equilibrium(x.numpy(), dense_S(5, *path.tolist()), F) @ B.T
    np.testing.assert_allclose(module(x, path).detach().numpy(), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("make", [lambda: eignn.nn.EIGNNConv(4, 3), lambda: eignn.nn.EIGNN(4, 3, norm="batch", encoder=6, seed=2)])
def test_state_copies_and_pickles(path, make):
    x = torch.randn(5, 4)
    module = make()
    module(x, path)
    module.eval()
    expected = module(x, path)
    other = make()
    other.load_state_dict(module.state_dict())
    other.eval()
    assert torch.equal(other(x, path), expected)
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(copied(x, path), expected)
        with torch.no_grad():
            copied.F.add_(torch.randn_like(copied.F))
        assert not torch.equal(copied(x, path), expected)
        assert torch.equal(module(x, path), expected)
    kept = io.BytesIO()
    torch.save(module.state_dict(), kept)
    kept.seek(0)
    other = make()
    other.load_state_dict(torch.load(kept))
    assert torch.equal(other.eval()(x, path), expected)


def test_a_step_of_the_weights_is_seen_however_it_is_made(path):
    x = torch.randn(5, 4, dtype=torch.float64)
    module = eignn.nn.EIGNN(4, 2, seed=0).double().eval()

    def fresh():
        other = eignn.nn.EIGNN(4, 2, seed=3).double().eval()
        other.load_state_dict(module.state_dict())
        return other(x, path)

    for step in (
        lambda: module.F.data.add_(torch.randn_like(module.F)),
        lambda: setattr(module.F, "data", module.F.data + 0.5),
        lambda: torch.optim.SGD(module.parameters(), lr=0.1).step(),
        lambda: module.load_state_dict(eignn.nn.EIGNN(4, 2, seed=9).double().state_dict()),
        lambda: setattr(module, "F", torch.nn.Parameter(torch.randn(4, 4, dtype=torch.float64))),
    ):
        before = module(x, path)
        module.F.grad = torch.ones_like(module.F)
        step()
        after = module(x, path)
        assert not torch.equal(before, after)
        assert torch.equal(after, fresh())


def test_features_that_were_written_to_are_seen(path):
    x = torch.randn(5, 4)
    for module in (eignn.nn.EIGNN(4, 2, seed=0), eignn.nn.EIGNNConv(4, 2)):
        module(x, path)
        x[0] += 1
        assert torch.equal(module(x, path), copy.deepcopy(module)(x.clone(), path))


def test_batch_norm_moves_its_moments_in_training_alone(path):
    module = eignn.nn.EIGNN(4, 2, norm="batch", seed=0)
    x = torch.randn(5, 4)
    before = module.norm.running_mean.clone()
    module.eval()(x, path)
    assert torch.equal(module.norm.running_mean, before)
    module.train()(x, path)
    assert not torch.equal(module.norm.running_mean, before)


def test_dropout_is_torchs_to_seed_and_off_in_evaluation(path):
    module = eignn.nn.EIGNN(4, 2, encoder=64, norm="l2", dropout=0.5, seed=0)
    x = torch.randn(5, 4)
    torch.manual_seed(5)
    first, second = module(x, path), module(x, path)
    torch.manual_seed(5)
    assert torch.equal(first, module(x, path)) and not torch.equal(first, second)
    module.eval()
    assert torch.equal(module(x, path), module(x, path))


def test_no_gradient_where_none_is_asked_for(path):
    x = torch.randn(5, 4)
    for module in (eignn.nn.EIGNN(4, 2, seed=0), eignn.nn.EIGNNConv(4, 2)):
        with torch.no_grad():
            assert not module(x, path).requires_grad
        with torch.inference_mode():
            module(x, path)
        module.requires_grad_(False)
        assert not module(x, path).requires_grad
        assert module(x.clone().requires_grad_(), path).requires_grad


def test_frozen_weights_have_no_gradient(path):
    module = eignn.nn.EIGNN(4, 2, seed=0)
    module.F.requires_grad_(False)
    module(torch.randn(5, 4), path).sum().backward()
    assert module.F.grad is None and module.B.grad is not None


def test_two_passes_before_one_backward(path):
    module = eignn.nn.EIGNN(4, 2, encoder=3, seed=0).double()
    a, b = torch.randn(2, 5, 4, dtype=torch.float64)
    (module(a, path).sum() + 2 * module(b, path).sum()).backward()
    together = module.F.grad.clone()
    module.zero_grad()
    module(a, path).sum().backward()
    (2 * module(b, path).sum()).backward()
    torch.testing.assert_close(module.F.grad, together)


def test_every_form_of_a_graph_is_the_same_graph(path):
    scipy = pytest.importorskip("scipy.sparse")
    networkx = pytest.importorskip("networkx")
    x = torch.randn(5, 4)
    ones = torch.ones(path.size(1))
    nx = networkx.DiGraph()
    nx.add_nodes_from(range(5))
    nx.add_edges_from(path.T.tolist())
    forms = [
        eignn.Graph(path, 5),
        path.int(),
        path.numpy(),
        torch.sparse_coo_tensor(path, ones, (5, 5)),
        torch.sparse_coo_tensor(path, ones, (5, 5)).to_sparse_csr(),
        scipy.coo_matrix((np.ones(5), path.numpy()), shape=(5, 5)),
        nx,
    ]
    for module in (eignn.nn.EIGNN(4, 2, seed=0), eignn.nn.EIGNNConv(4, 2)):
        expected = module(x, path)
        for form in forms:
            torch.testing.assert_close(module(x, form), expected, msg=lambda text: f"{type(form)}: {text}")


def test_a_module_learns_inside_of_a_model_of_the_users_own():
    n = 200
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 2) % n])
    y = torch.arange(n) % 2
    x = torch.randn(n, 4) + (2.0 * y - 1).unsqueeze(1) * 0.5

    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = eignn.nn.EIGNNConv(4, 8)
            self.second = eignn.nn.EIGNNConv(8, 2)

        def forward(self, x, edge_index):
            return self.second(self.first(x, edge_index).relu(), edge_index)

    model = Own()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, ring)[:100], y[:100])
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        accuracy = (model(x, ring)[100:].argmax(1) == y[100:]).double().mean()
    assert accuracy > 0.9


def test_the_seed_of_torch_fixes_the_start():
    torch.manual_seed(3)
    first = eignn.nn.EIGNN(4, 2, encoder=5).state_dict()
    torch.manual_seed(3)
    second = eignn.nn.EIGNN(4, 2, encoder=5).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("make", [lambda: eignn.nn.EIGNNConv(4, 3), lambda: eignn.nn.EIGNN(4, 3, norm="batch", encoder=6, seed=2)])
def test_modules_move_to_a_gpu_and_back(path, make):
    x = torch.randn(5, 4)
    module = make().eval()
    expected = module(x, path)
    moved = module.cuda()
    torch.testing.assert_close(moved(x.cuda(), path.cuda()).cpu(), expected, rtol=1e-4, atol=1e-5)
    moved(x.cuda(), path.cuda()).sum().backward()
    assert moved.F.grad.is_cuda
    torch.testing.assert_close(moved.cpu()(x, path), expected)
