"""A GCN in plain PyTorch, timed beside a stack of equilibria of the same depth and width:

    H_0 = X W_0 + b_0,   H_l = dropout(ReLU(norm(S H_{l-1} W_l + b_l) + H_{l-1})),   f = H_L B

Run by `eignn bench stack` with Debian's python3-torch; prints one JSON object. Arguments: the folder of the problem (the
entries of S, the features, the labels and the nodes for training and validation as .npy), the layers, the width, the
dropout, dtype, threads, epochs. S is applied in the faster of the two sparse formats.
"""
import json
import sys
import time

import numpy
import torch

folder = sys.argv[1]
layers, width = map(int, sys.argv[2:4])
dropout = float(sys.argv[4])
dtype = getattr(torch, sys.argv[5])
torch.set_num_threads(int(sys.argv[6]))
epochs = int(sys.argv[7])
torch.manual_seed(0)


def read(name):
    return torch.from_numpy(numpy.load(f"{folder}/{name}.npy"))


X = read("features").to(dtype)
y, train, val = read("labels"), read("train"), read("val")
n, classes = X.shape[0], int(y.max()) + 1
coo = torch.sparse_coo_tensor(torch.stack([read("column"), read("row")]), read("value").to(dtype), (n, n)).coalesce()


class Product(torch.autograd.Function):
    """S' H for a fixed S, whose transpose is at hand: PyTorch's own backward would transpose it in every step."""

    @staticmethod
    def forward(ctx, H, S, St):
        ctx.St = St
        return S @ H

    @staticmethod
    def backward(ctx, G):
        return ctx.St @ G, None, None


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(X.shape[1], width, dtype=dtype)
        self.mix = torch.nn.ModuleList(torch.nn.Linear(width, width, dtype=dtype) for _ in range(layers))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width, dtype=dtype) for _ in range(layers))
        self.head = torch.nn.Linear(width, classes, dtype=dtype)

    def forward(self, S, St):
        h = torch.relu(self.encoder(X))
        for mix, norm in zip(self.mix, self.norms):
            h = torch.relu(norm(mix(Product.apply(h, S, St))) + h)
            h = torch.nn.functional.dropout(h, dropout, self.training)
        return self.head(h)


def median(seconds):
    after_the_first = sorted(seconds[1:])
    return 1e3 * after_the_first[len(after_the_first) // 2]


def epoch_times(S, St):
    model = GCN()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    steps, whole = [], []
    for _ in range(1 + epochs):
        start = time.perf_counter()
        model.train()
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(S, St)[train], y[train]).backward()
        optimiser.step()
        steps.append(time.perf_counter() - start)
        model.eval()
        with torch.no_grad():
            torch.nn.functional.cross_entropy(model(S, St)[val], y[val]).item()
        whole.append(time.perf_counter() - start)
    return median(steps), median(whole)


formats = {"coo": (coo, coo.t().coalesce()), "csr": (coo.to_sparse_csr(), coo.t().coalesce().to_sparse_csr())}
timed = {name: epoch_times(*pair) for name, pair in formats.items()}
fastest = min(timed, key=lambda name: timed[name][1])
print(json.dumps({"step_ms": timed[fastest][0], "epoch_ms": timed[fastest][1], "format": fastest,
                  "torch": torch.__version__}))
