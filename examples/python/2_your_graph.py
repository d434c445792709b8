"""# 2. Your own graph, from a data frame

People with an age and a town, and who knows whom. A few of them are known to like hiking; what of the others?
"""

# %%
# Two data frames: one row for each person, one row for each acquaintance. A missing value is a gap.
import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
from matplotlib import pyplot

import eignn

random = np.random.RandomState(0)
names = [f"person {k}" for k in range(120)]
hikes = random.rand(120) < 0.5
people = pd.DataFrame(
    {
        "age": np.where(random.rand(120) < 0.1, np.nan, random.normal(40, 12, 120).round()),
        "town": random.choice(["Bern", "Graz", "Oslo"], 120),
        "likes": np.where(hikes, "hiking", "reading"),
    },
    index=pd.Index(names, name="name"),
)
people.loc[random.rand(120) < 0.4, "likes"] = None  # not known
pairs = [(a, b) for a in range(120) for b in range(a) if random.rand() < (0.08 if hikes[a] == hikes[b] else 0.01)]
friends = pd.DataFrame([(names[a], names[b]) for a, b in pairs], columns=["one", "other"])
print(people.head())

# %%
# The frames are read by the rules of nodes.csv and edges.csv: words become columns, gaps are filled, numbers are scaled.
data = eignn.from_pandas(friends, people, label="likes")
print(data)
run = eignn.train(data, seed=0, epochs=300)
print(f"{run.result['metric']} of the test nodes: {run.test:.2f}")

# %%
# A prediction for everybody, as a data frame again.
told = run.model.predict(data).to_pandas()
print(told[people["likes"].isna()].head())
truth = np.where(hikes, "hiking", "reading")
unknown = people["likes"].isna().to_numpy()
print(f"of those never labelled, {np.mean(told['class'].to_numpy()[unknown] == truth[unknown]):.0%} are right")

# %%
# Somebody new, who knows three of them.
more = data.with_node("Ada", {"age": 33, "town": "Bern"}, names[:3])
print(run.model.predict(more).to_pandas().loc["Ada"])

# %%
# How sure the model is.
axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")[1]
axes.hist([told["p(hiking)"][hikes], told["p(hiking)"][~hikes]], bins=20, label=["hikes", "reads"], stacked=True)
axes.set_xlabel("probability of hiking")
axes.set_ylabel("people")
axes.legend()
axes.figure.savefig("2_your_graph.png")
