"""EIGNNConv in the place of GCNConv, in a training loop of PyTorch Geometric. Runs wherever that is installed."""

import os

import numpy as np
import pytest
import torch

import eignn

geometric = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.nn import GCNConv  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


class Net(torch.nn.Module):
    """As in the introduction of PyTorch Geometric."""

    def __init__(self, conv, features, classes):
        super().__init__()
        self.conv1 = conv(features, 16)
        self.conv2 = conv(16, classes)

    def forward(self, data):
        x, edge_index = data.x, data.edge_index
        x = torch.nn.functional.relu(self.conv1(x, edge_index))
        x = torch.nn.functional.dropout(x, training=self.training)
        return self.conv2(x, edge_index)


def trained(conv, data, epochs=120):
    torch.manual_seed(0)
    model = Net(conv, data.num_features, int(data.y.max()) + 1).to(data.x.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(epochs):
        model.train()
        optimiser.zero_grad()
        out = model(data)
        torch.nn.functional.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimiser.step()
    model.eval()
    return float((model(data).argmax(1) == data.y)[data.test_mask].double().mean())


@pytest.mark.parametrize("device", DEVICES)
def test_the_loop_runs_unchanged_with_the_convolution_exchanged(device):
    n = 200
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 2) % n])
    y = torch.arange(n) % 2
    x = torch.randn(n, 6) + (2.0 * y - 1).unsqueeze(1) * 0.6
    mask = torch.rand(n) < 0.5
    data = Data(x=x, edge_index=ring, y=y, train_mask=mask, test_mask=~mask).to(device)
    assert trained(GCNConv, data) > 0.8
    assert trained(eignn.nn.EIGNNConv, data) > 0.8


def test_a_data_is_taken_whole():
    data = Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    conv = eignn.nn.EIGNNConv(3, 2)
    assert torch.equal(conv(data), conv(data.x, data.edge_index))
    assert eignn.Graph(data).num_edges == 3


@pytest.mark.skipif("EIGNN_DATA" not in os.environ, reason="EIGNN_DATA names no folder with the published data sets")
@pytest.mark.parametrize("device", DEVICES)
def test_texas(device):
    own = eignn.load_dataset("texas")
    train, val, test = own.splits[0]
    data = Data(x=own.x.float(), edge_index=own.edge_index, y=own.y).to(device)
    model = eignn.nn.EIGNN(data.num_features, own.num_classes, seed=0).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, found = -1.0, 0.0
    for _ in range(100):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(data)[train], data.y[train]).backward()
        optimiser.step()
        with torch.no_grad():
            right = (model(data).argmax(1) == data.y).cpu().numpy()
        if right[val].mean() > best:
            best, found = right[val].mean(), right[test].mean()
    reference = eignn.train("texas", recipe="paper", epochs=100, seed=0).test
    assert found > reference - 0.06, (found, reference)
    assert np.isfinite(found)
