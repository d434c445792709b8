"""# 3. The layer inside your own model

`EIGNNConv` is a convolution like any other of PyTorch Geometric: `forward(x, edge_index)`. Here it stands between two linear
layers of an ordinary `torch.nn.Module`, in an ordinary training loop.
"""

# %%
# The members of Zachary's karate club, and the two factions they fell into.
import matplotlib

matplotlib.use("Agg")
import torch
from matplotlib import pyplot

import eignn

torch.manual_seed(0)
data = eignn.datasets.karate()
x, y, edge_index = data.x.float(), data.y, data.edge_index
train, val, test = data.splits[0]


class Model(torch.nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.encode = torch.nn.Linear(features, 16)
        self.conv = eignn.nn.EIGNNConv(16, 16, gamma=0.9)
        self.head = torch.nn.Linear(16, classes)

    def forward(self, x, edge_index):
        h = self.encode(x).relu()
        h = self.conv(h, edge_index).relu()
        return self.head(h)


model = Model(x.size(1), data.num_classes)
print(model)

# %%
# The backward pass of the convolution is one more solve, with no layer kept in memory.
optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
losses = []
for epoch in range(120):
    model.train()
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x, edge_index)[train], y[train])
    loss.backward()
    optimiser.step()
    losses.append(loss.item())
model.eval()
with torch.no_grad():
    right = model(x, edge_index).argmax(1) == y
print(f"training loss {losses[0]:.3f} -> {losses[-1]:.3f}; {int(right[test].sum())} of {len(test)} test members are right")

# %%
# The whole family is a module too: stacks, several directions, neighbours as a source.
stack = eignn.nn.EIGNN(x.size(1), data.num_classes, layers=2, hidden=16, norm="layer", source="both", seed=0)
print(stack, sum(weight.numel() for weight in stack.parameters()), "weights")

# %%
# And the function underneath: differentiable in x and in F.
F = torch.randn(16, 16, requires_grad=True)
Z = eignn.equilibrium(model.encode(x), edge_index, F)
Z.square().mean().backward()
print("gradient in F:", tuple(F.grad.shape))

# %%
# What training made of the mixing g(F): a few directions carry, the others fade.
figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].plot(losses)
axes[0].set_xlabel("epoch")
axes[0].set_ylabel("training loss")
eignn.plot.spectrum(model.conv, axes[1])
figure.savefig("3_your_model.png")
