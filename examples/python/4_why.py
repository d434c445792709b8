"""# 4. Why did this node get this class?

A score of EIGNN is a sum over all nodes of the graph, exactly: what each of them gave is what the score would lose without
its features. No sampling, no surrogate.
"""

# %%
# The paper's plain model on the karate club, whose features only say who is who: they are taken as they are.
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import eignn

data = eignn.datasets.karate()
model = eignn.train(data, recipe="paper", feature_norm="none", gamma=1.0, epochs=300, seed=0).model
node = 8
print(model.predict(data).to_pandas().loc[node])

# %%
# Member 8 has friends on both sides, and it is a close decision. Who made it, the largest contribution first:
why = eignn.explain(model, data, node)
print(why.head(8))
print(f"sum {why['contribution'].sum() + why.attrs['constant']:.6f}, score {why.attrs['score']:.6f}, exact: {why.attrs['exact']}")

# %%
# By distance: raised by some, lowered by others.
hops = eignn.explain(model, data, node, by="hops")
print(hops)

# %%
# For this node, and for the model as a whole.
figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
eignn.plot.contributions_by_hop(hops, axes[0])
eignn.plot.influence_by_hop(eignn.influence(model, data), axes[1])
figure.savefig("4_why.png")
