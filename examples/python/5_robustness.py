"""# 5. Robustness, and a certificate

Somebody may change each feature of a node a little. An attack looks for a change that takes the node's class; a certificate
proves that there is none. For a model that is linear in its features the certificate is exact.
"""

# %%
# A model with the paper's plain head is linear in its features.
import matplotlib

matplotlib.use("Agg")
import torch
from matplotlib import pyplot

import eignn

data = eignn.datasets.karate()
model = eignn.train(data, recipe="paper", feature_norm="none", gamma=1.0, epochs=300, seed=0).model
everybody = torch.arange(data.num_nodes)

# %%
# Attacks of growing size: accuracy under attack is never below what is certified.
sizes = [0.0, 0.01, 0.02, 0.03, 0.05, 0.08]
attacked, certified = [], []
for size in sizes:
    report = eignn.attack(model, data, everybody, method="pgd", epsilon=size, step=max(size / 5, 1e-3))
    attacked.append(report["accuracy"])
    certified.append(report["certified_accuracy"])
    print(f"epsilon {size}: {attacked[-1]:.2f} right under attack, {certified[-1]:.2f} certified")
assert all(c <= a for a, c in zip(attacked, certified))

# %%
# Each node has a radius of its own: below it no change takes its class.
radius = report["certified_radius"]
print(f"the surest member is {int(radius.argmax())} with {float(radius.max()):.3f}, the least sure {int(radius.argmin())} with {float(radius.min()):.3f}")

# %%
# Both curves.
axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")[1]
axes.plot(sizes, attacked, "o-", label="under attack (PGD)")
axes.plot(sizes, certified, "s--", label="certified")
axes.set_xlabel("largest change of a feature")
axes.set_ylabel("accuracy")
axes.legend()
axes.figure.savefig("5_robustness.png")
