"""The paper's formulas, transcribed into plain PyTorch and timed: what users of the published code have.

    Z = Q_F (G * (Q_F' X Q_S)) Q_S',  G_ij = 1 / (1 - gamma mu_i lambda_j)
    W the same from Y = dL/dZ;  R = W S' Z';  dF = gamma/(nu+eps) F (R + R' - 2 <F'F, R>/(nu^2 + eps nu) F'F)

Run by `eignn bench` with Debian's python3-torch; prints one JSON object. Arguments: the folder of the problem (the
entries of S, the features, the labels and the nodes for training and validation as .npy), the head, gamma, the dropout,
dtype, threads, epochs.
"""
import json
import sys
import time

import numpy
import torch

folder, head = sys.argv[1:3]
gamma, dropout = map(float, sys.argv[3:5])
dtype = getattr(torch, sys.argv[5])
torch.set_num_threads(int(sys.argv[6]))
epochs = int(sys.argv[7])
eps = 1e-12
torch.manual_seed(0)


def read(name):
    return torch.from_numpy(numpy.load(f"{folder}/{name}.npy"))


X = read("features").to(dtype).T.contiguous()
y, train, val = read("labels"), read("train"), read("val")
m, n = X.shape
classes = int(y.max()) + 1
S = torch.sparse_coo_tensor(torch.stack([read("row"), read("column")]), read("value").to(dtype), (n, n)).coalesce()

start = time.perf_counter()
# In double whatever the dtype: PyTorch reads the size of ssyevd's work space as a float, which fails beyond n = 2895.
Lambda, Q_S = (t.to(dtype) for t in torch.linalg.eigh(S.to_dense().double()))
preprocess = time.perf_counter() - start


class Equilibrium(torch.autograd.Function):
    @staticmethod
    def forward(ctx, F):
        FF = F.T @ F
        nu = torch.linalg.norm(FF)
        mu, Q_F = torch.linalg.eigh(FF / (nu + eps))
        G = 1 / (1 - gamma * torch.outer(mu, Lambda))
        Z = Q_F @ (G * (Q_F.T @ (X @ Q_S))) @ Q_S.T
        ctx.save_for_backward(F, FF, nu, Q_F, G, Z)
        return Z

    @staticmethod
    def backward(ctx, Y):
        F, FF, nu, Q_F, G, Z = ctx.saved_tensors
        W = Q_F @ (G * (Q_F.T @ (Y @ Q_S))) @ Q_S.T
        R = W @ torch.sparse.mm(S, Z.T)
        along = 2 * (FF * R).sum() / (nu * nu + eps * nu)
        return F @ (R + R.T - along * FF) * (gamma / (nu + eps))


F = torch.nn.Parameter(torch.linalg.qr(torch.randn(m, m, dtype=dtype))[0].contiguous())
B = torch.nn.Parameter(torch.randn(classes, m, dtype=dtype) / m**0.5)
norm = torch.nn.BatchNorm1d(m, affine=False, dtype=dtype)
optimiser = torch.optim.Adam([B, F], lr=0.01, weight_decay=5e-4)


def scores(nodes, training):
    z = Equilibrium.apply(F).T
    if head == "batch-norm":
        norm.train(training)
        z = norm(z)
    z = z[nodes]
    if head == "l2":
        z = z / z.norm(dim=1, keepdim=True).clamp_min(1e-30)
    return torch.nn.functional.dropout(z, dropout, training) @ B.T


steps, whole = [], []
for _ in range(1 + epochs):
    start = time.perf_counter()
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(scores(train, True), y[train]).backward()
    optimiser.step()
    steps.append(time.perf_counter() - start)
    with torch.no_grad():
        torch.nn.functional.cross_entropy(scores(val, False), y[val]).item()
    whole.append(time.perf_counter() - start)


def median(seconds):
    after_the_first = sorted(seconds[1:])
    return 1e3 * after_the_first[len(after_the_first) // 2]


print(json.dumps({"step_ms": median(steps), "epoch_ms": median(whole), "preprocess_s": preprocess,
                  "torch": torch.__version__}))
