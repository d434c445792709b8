"""What a call from Python costs over C++, and the convolution beside the published algorithm, on the same tensors.

    PYTHONPATH=build/release/python python3 bench/python.py [--nodes 183 --arcs 295 --features 1703] [--width 64] [--repeats 30]
        [--device cuda] [--threads 2]

The default size is Cornell's. Prints one JSON object: seconds are medians of forward and backward together; the calls are
made in turn, and the first few of each are left out.
"""

import argparse
import json
import statistics
import time

import torch

import eignn

parser = argparse.ArgumentParser()
for name, default in (("nodes", 183), ("arcs", 295), ("features", 1703), ("width", 64), ("repeats", 30), ("threads", 2)):
    parser.add_argument(f"--{name}", type=int, default=default)
parser.add_argument("--device", default="cpu")
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)
device = torch.device(options.device)
n, m, gamma, epsilon = options.nodes, options.features, 0.8, 1e-12
edges = torch.randint(n, (2, options.arcs))


def seconds(work):
    if device.type == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def in_turn(works):
    """The median seconds of each, called in turn."""
    measured = [[] for _ in works]
    for _ in range(options.repeats + 3):
        for times, work in zip(measured, works):
            told = work()
            times.append(told)
    return [statistics.median(times[3:]) for times in measured]


class Published(torch.autograd.Function):
    """The paper's formulas in PyTorch (bench/published.py), with a gradient in X too."""

    @staticmethod
    def forward(ctx, F, X, S, Lambda, Q_S):
        FF = F.T @ F
        nu = torch.linalg.norm(FF)
        mu, Q_F = torch.linalg.eigh(FF / (nu + epsilon))
        G = 1 / (1 - gamma * torch.outer(mu, Lambda))
        Z = Q_F @ (G * (Q_F.T @ (X @ Q_S))) @ Q_S.T
        ctx.save_for_backward(F, FF, nu, Q_F, G, Z, S, Q_S)
        return Z

    @staticmethod
    def backward(ctx, Y):
        F, FF, nu, Q_F, G, Z, S, Q_S = ctx.saved_tensors
        W = Q_F @ (G * (Q_F.T @ (Y @ Q_S))) @ Q_S.T
        R = W @ (S @ Z.T)
        along = 2 * (FF * R).sum() / (nu * nu + epsilon * nu)
        return F @ (R + R.T - along * FF) * (gamma / (nu + epsilon)), W, None, None, None


# A call of equilibrium at the width of the features.
x = torch.randn(n, m, device=device)
F = torch.nn.Parameter(torch.linalg.qr(torch.randn(m, m))[0].contiguous().to(device))
Y = torch.randn(n, m, device=device)
solver = eignn.Solver(edges, m, num_nodes=n, gamma=gamma, device=device, x=x)


def from_python():
    def work():
        F.grad = None
        solver(F, x).backward(Y)

    return seconds(work)


def from_cpp():
    return solver._solver.seconds_in_cpp(F, x, Y, False)


python_s, cpp_s = in_turn([from_python, from_cpp])

# The convolution beside the same layer with the published algorithm.
conv = eignn.nn.EIGNNConv(m, options.width).to(device)
S = eignn.Graph(edges, n).propagation().to_dense().float().to(device)
Lambda, Q_S = (each.float() for each in torch.linalg.eigh(S.double()))
mix = torch.randn(n, options.width, device=device)
other = eignn.nn.EIGNNConv(m, options.width).to(device)
other.load_state_dict(conv.state_dict())


def ours():
    def work():
        conv.zero_grad()
        conv(x, edges).backward(mix)

    return seconds(work)


def published():
    def work():
        other.zero_grad()
        h = torch.nn.functional.linear(x, other.weight)
        (Published.apply(other.F, h.T.contiguous(), S, Lambda, Q_S).T + other.bias).backward(mix)

    return seconds(work)


conv_s, published_s = in_turn([ours, published])
with torch.no_grad():
    h = torch.nn.functional.linear(x, other.weight)
    difference = (Published.apply(other.F, h.T.contiguous(), S, Lambda, Q_S).T + other.bias - conv(x, edges)).abs().max()
agree = max(float((a.grad - b.grad).norm() / b.grad.norm()) for a, b in zip(conv.parameters(), other.parameters()))
print(json.dumps({
    "nodes": n, "features": m, "width": options.width, "device": options.device, "torch": torch.__version__,
    "equilibrium": {"solver": solver.name, "python_s": python_s, "cpp_s": cpp_s, "overhead": python_s / cpp_s - 1},
    "convolution": {"solver": next(iter(conv._solvers._made.values())).name, "ours_s": conv_s, "published_s": published_s, "ratio": published_s / conv_s,
                    "largest_difference": float(difference), "gradients_differ_by": agree},
}))
