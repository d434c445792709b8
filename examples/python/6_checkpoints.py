"""# 6. From a trained checkpoint to the command line, and back

Python and the command are two doors of one library: a run's folder is the same, and the same seed gives the same weights.
"""

# %%
# A run kept in a folder, as `eignn train --dataset karate --epochs 60 --out runs/karate` keeps it.
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import matplotlib

matplotlib.use("Agg")
import torch

import eignn

folder = pathlib.Path(tempfile.mkdtemp()) / "karate"
run = eignn.train("karate", epochs=60, seed=0, threads=1, out=folder)
print(sorted(path.name for path in folder.iterdir()))

# %%
# The command goes on from there, where it is installed.
command = os.environ.get("EIGNN_COMMAND") or shutil.which("eignn")
if command:
    told = subprocess.run([command, "evaluate", "--checkpoint", folder, "--json"], capture_output=True, text=True, check=True)
    print("the command:", json.loads(told.stdout)["test_accuracy"], "Python:", run.test)
    other = folder.parent / "command"
    subprocess.run([command, "train", "--dataset", "karate", "--epochs", "60", "--seed", "0", "--threads", "1", "--out", other],
                   capture_output=True, check=True)
    theirs = eignn.load_model(other).state_dict()
    print("same weights:", all(torch.equal(weight, theirs[name]) for name, weight in run.model.state_dict().items()))
else:
    print("eignn is not on the PATH; ./dev build leaves it in build/release")

# %%
# And back: a checkpoint of either is a model here, on any graph with the same features, and a module to go on with.
model = eignn.load_model(folder)
data = eignn.load_dataset("karate")
print(model, model.evaluate(data))
module = model.module()
scores = module(model.features_of(data).to(torch.float32), data.graph)
print("the module agrees:", bool(torch.allclose(scores, model.predict(data).scores, atol=1e-5)))

# %%
# What the run did.
eignn.plot.learning_curves(run).figure.savefig("6_checkpoints.png")
