"""# 1. Chains, and how far a model sees

Only the first node of each chain knows its class; all others must hear it. A network of two layers sees two hops. EIGNN is
a network of infinitely many layers, and sees the whole chain.
"""

# %%
# Chains of 60 nodes, two classes.
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import eignn

data = eignn.datasets.chains(length=60, chains_per_class=10, features=20)
print(data)

# %%
# The same data for a graph convolutional network and for EIGNN, with the settings of their recipes.
runs = {
    "GCN": eignn.train(data, model="gcn", epochs=200, seed=0),
    "EIGNN": eignn.train(data, model="eignn", epochs=300, seed=0),
}
for name, run in runs.items():
    print(f"{name}: test accuracy {run.test:.2f}")

# %%
# By distance: the one is at a loss beyond its last layer, the other is not.
figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
eignn.plot.accuracy_by_hop(runs, axes[0])
eignn.plot.learning_curves(runs["EIGNN"], axes[1])
figure.savefig("1_chains.png")

# %%
# At the far end, where two layers see nothing of the first node:
for name, run in runs.items():
    last = run.result["accuracy_by_distance"][-1]
    print(f"{name}: {last['accuracy']:.0%} of the nodes {last['from']} to {last['to']} hops away are right")
