"""The paper's formulas, transcribed into plain PyTorch and timed: the yardstick for `--solver published`.

    Z = Q_F (G * (Q_F' X Q_S)) Q_S',  G_ij = 1 / (1 - gamma mu_i lambda_j)
    W the same from Y = dL/dZ;  R = W S' Z';  dF = gamma/(nu+eps) F (R + R' - 2 <F'F, R>/(nu^2 + eps nu) F'F)

Run by `eignn bench chains` with Debian's python3-torch; prints one JSON object. Arguments: chain length, chains per
class, classes, features, dtype, threads, steps.
"""
import json
import sys
import time

import torch

length, per_class, classes, m = map(int, sys.argv[1:5])
dtype = getattr(torch, sys.argv[5])
torch.set_num_threads(int(sys.argv[6]))
steps = int(sys.argv[7])
gamma, eps = 0.8, 1e-12
chains = classes * per_class
n = chains * length
torch.manual_seed(0)

first = torch.arange(chains) * length
label = torch.arange(classes).repeat_interleave(per_class)
X = torch.zeros(m, n, dtype=dtype)
X[label, first] = 1
y = label.repeat_interleave(length)
node = torch.arange(n)
tail = node[node % length != length - 1]
row = torch.cat([tail, tail + 1, node])
col = torch.cat([tail + 1, tail, node])
degree = torch.zeros(n, dtype=dtype).index_add_(0, row, torch.ones(len(row), dtype=dtype))
value = degree[row].rsqrt() * degree[col].rsqrt()
S = torch.sparse_coo_tensor(torch.stack([row, col]), value, (n, n)).coalesce()

start = time.perf_counter()
# In double whatever the dtype: ssyevd's work space overflows its float beyond n = 2895, as in the engine.
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
optimiser = torch.optim.Adam([B, F], lr=0.01, weight_decay=5e-4)
train = torch.randperm(n)[: n // 20]
seconds = []
for k in range(3 + steps):
    start = time.perf_counter()
    optimiser.zero_grad()
    z = Equilibrium.apply(F)[:, train].T
    z = z / z.norm(dim=1, keepdim=True).clamp_min(1e-30)
    scores = torch.nn.functional.dropout(z, 0.5) @ B.T
    torch.nn.functional.cross_entropy(scores, y[train]).backward()
    optimiser.step()
    if k >= 3:
        seconds.append(time.perf_counter() - start)
seconds.sort()
print(json.dumps({"epoch_ms": 1e3 * seconds[len(seconds) // 2], "preprocess_s": preprocess, "torch": torch.__version__}))
