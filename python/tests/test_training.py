"""Training, checkpoints in both directions, explanations and attacks, data frames."""

import json
import os
import pathlib
import pickle
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import torch

import eignn

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = os.environ.get("EIGNN_COMMAND", str(ROOT / "build" / "release" / "eignn"))
needs_command = pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason=f"there is no command at {COMMAND}")


def command(*arguments, fails=False):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout


def same_weights(a, b):
    assert sorted(a) == sorted(b)
    return all(torch.equal(a[name], b[name]) for name in a)


@needs_command
@pytest.mark.parametrize("arguments", [
    {"data": "chains", "chain_length": 12, "chains_per_class": 6, "epochs": 25},
    {"data": "karate", "epochs": 40, "lr": 0.02},
    {"data": "karate", "epochs": 10, "encoder": 5, "head": "plain", "norm": "layer", "dropout": 0.3},
    {"data": "karate", "epochs": 10, "model": "gcn"},
    {"data": str(ROOT / "examples" / "named-graph"), "epochs": 15},
])
def test_the_same_seed_gives_the_commands_weights(tmp_path, arguments):
    flags = [part for name, value in arguments.items()
             for part in (f"--{'dataset' if name == 'data' else name.replace('_', '-')}", value)]
    command("train", *flags, "--seed", 7, "--threads", 1, "--out", tmp_path / "command")
    run = eignn.train(**arguments, seed=7, threads=1, out=tmp_path / "python")
    ours, theirs = run.model.state_dict(), eignn.load_model(tmp_path / "command").state_dict()
    assert same_weights(ours, theirs)
    assert same_weights(ours, eignn.load_model(tmp_path / "python").state_dict())
    summary = json.loads((tmp_path / "command" / "summary.json").read_text())
    assert summary[f"test_{summary['metric']}"] == run.test
    # And from a data set in memory.
    loads = {name: value for name, value in arguments.items() if name.startswith("chain") or name == "seed"}
    data = eignn.load_dataset(arguments["data"], seed=7, **loads)
    rest = {name: value for name, value in arguments.items() if name not in loads and name != "data"}
    again = eignn.train(data, **rest, seed=7, threads=1)
    assert same_weights(ours, again.model.state_dict())


@needs_command
def test_checkpoints_go_both_ways(tmp_path):
    data = eignn.load_dataset("karate")
    run = eignn.train("karate", epochs=20, out=tmp_path / "python")
    run.model.save(tmp_path / "alone.safetensors")
    for path in (tmp_path / "python", tmp_path / "alone.safetensors"):
        command("predict", "--checkpoint", path, "--dataset", "karate", "--out", tmp_path / "predictions.csv")
        rows = (tmp_path / "predictions.csv").read_text().splitlines()[1:]
        found = [int(row.split(",")[1]) for row in rows if row.split(",")[1].isdigit()]
        assert len(rows) == 34
        if found:
            assert len(set(found)) <= 2
    evaluated = json.loads(command("evaluate", "--checkpoint", tmp_path / "python", "--json"))
    assert abs(evaluated["test_accuracy"] - run.test) < 1e-12
    command("train", "--dataset", "karate", "--epochs", 20, "--out", tmp_path / "command")
    theirs = eignn.load_model(tmp_path / "command")
    assert theirs.evaluate(data)["score"] == eignn.load_model(tmp_path / "command" / "model.safetensors").evaluate(data)["score"]


def test_a_trained_model_is_a_module_and_back():
    data = eignn.load_dataset("karate")
    for settings in ({"recipe": "paper"}, {}, {"layers": 2, "hidden": 6, "head": "plain", "norm": "layer"}):
        model = eignn.train(data, epochs=15, **settings).model
        module = model.module()
        x = model.features_of(data).to(next(module.parameters()).dtype)
        torch.testing.assert_close(module(x, data.graph), model.predict(data).scores, rtol=1e-5, atol=1e-5)  # float32


def test_training_does_not_touch_the_callers_generators_and_threads():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    threads = torch.get_num_threads()
    eignn.train("karate", epochs=3, threads=1)
    assert torch.equal(torch.rand(3), expected) and torch.get_num_threads() == threads


def test_epochs_are_told_and_an_error_of_the_listener_is_passed_on():
    seen = []
    run = eignn.train("karate", epochs=5, patience=10, on_epoch=seen.append)
    assert [report["epoch"] for report in seen] == list(range(5)) and run.history == seen

    def fails(report):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        eignn.train("karate", epochs=5, on_epoch=fails)


def test_ctrl_c_ends_a_training_and_its_folder_goes_on(tmp_path):
    settings = {"epochs": 400, "patience": 1000, "threads": 1}
    whole = eignn.train("karate", **settings)

    def press(report):
        if report["epoch"] == 20:
            os.kill(os.getpid(), signal.SIGINT)

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        eignn.train("karate", on_epoch=press, out=tmp_path / "run", **settings)
    assert time.monotonic() - begin < 5
    resumed = eignn.train(resume=True, out=tmp_path / "run")
    assert same_weights(resumed.model.state_dict(), whole.model.state_dict())


def test_ctrl_c_during_long_epochs_ends_within_a_second():
    n = 20000
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    data = eignn.Dataset(ring, torch.randn(n, 128), torch.arange(n) % 2)
    sent = []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        eignn.train(data, recipe="paper", solver="picard", gamma=1.0, epochs=10000, patience=10000, dtype="float64")
    assert sent and time.monotonic() - sent[0] < 1.5  # half a second is the epoch's, and the machine may be busy


def test_two_trainings_in_two_threads_give_what_each_gives_alone():
    alone = [eignn.train("karate", epochs=20, seed=seed, threads=1).model.state_dict() for seed in (1, 2)]
    found = {}
    threads = [threading.Thread(target=lambda s=s: found.__setitem__(s, eignn.train("karate", epochs=20, seed=s, threads=1)))
               for s in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same_weights(alone[k], found[k + 1].model.state_dict()) for k in (0, 1))


def test_contributions_add_up_and_are_what_goes_with_a_node():
    data = eignn.load_dataset("karate")
    model = eignn.train(data, recipe="paper", feature_norm="none", epochs=30, dtype="float64").model
    why = eignn.explain(model, data, 17)
    assert why.attrs["exact"]
    assert abs(why["contribution"].sum() + why.attrs["constant"] - why.attrs["score"]) < 1e-12
    most = int(why["number"].iloc[0])
    without = data.x.clone()
    without[most] = 0
    other = model.predict(eignn.Dataset(data.graph, without))
    k = model.class_names.index(why.attrs["class_name"])
    change = model.predict(data).scores[17, k] - other.scores[17, k]
    assert abs(float(change) - why["contribution"].iloc[0]) < 1e-12
    for by in ("hops", "features"):
        assert abs(eignn.explain(model, data, 17, by=by)["contribution"].sum() - why["contribution"].sum()) < 1e-10
    share = eignn.influence(model, data)
    assert abs(share["share"].sum() + share.attrs["elsewhere"] - 1) < 1e-9


def test_an_attack_keeps_what_the_certificate_promises():
    data = eignn.load_dataset("karate")
    model = eignn.train(data, recipe="paper", epochs=60, dtype="float64").model
    nodes = torch.arange(34)
    for method in ("fgsm", "pgd", "noise"):
        report = eignn.attack(model, data, nodes, method=method, epsilon=0.05)
        assert report["certified_accuracy"] <= report["accuracy"] + 1e-12
    right = report["clean_scores"].argmax(1) == report["labels"]
    assert right.double().mean().item() == pytest.approx(report["clean_accuracy"])


def test_data_frames_are_read_as_tables_are(tmp_path):
    pandas = pytest.importorskip("pandas")
    folder = ROOT / "examples" / "named-graph"
    nodes = pandas.read_csv(folder / "nodes.csv", dtype=str, keep_default_na=False, na_values=[""])
    edges = pandas.read_csv(folder / "edges.csv")
    files = eignn.load_dataset(folder)
    frames = eignn.from_pandas(edges, nodes.infer_objects(), id=nodes.columns[0])
    assert torch.equal(files.edge_index, frames.edge_index)
    assert torch.equal(files.x.nan_to_num(-1), frames.x.nan_to_num(-1))
    assert files.class_names == frames.class_names and torch.equal(files.y, frames.y)
    run = eignn.train(frames, epochs=10)
    told = run.model.predict(frames).to_pandas()
    assert list(told.index) == frames.node_names and told.iloc[:, 1:].sum(axis=1).sub(1).abs().max() < 1e-9
    arcs, table = frames.to_pandas()
    again = eignn.from_pandas(arcs, table.reset_index(), id="id", label="class")
    assert torch.equal(again.edge_index, frames.edge_index) and torch.equal(again.x.nan_to_num(-1), frames.x.nan_to_num(-1))


def test_data_sets_and_models_pickle():
    data = eignn.load_dataset("karate")
    copied = pickle.loads(pickle.dumps(data))
    assert torch.equal(copied.x, data.x) and torch.equal(copied.y, data.y) and torch.equal(copied.edge_index, data.edge_index)
    assert all(torch.equal(a, b) for a, b in zip(copied.splits[0], data.splits[0]))
    model = eignn.train(data, epochs=5).model
    assert torch.equal(pickle.loads(pickle.dumps(model)).predict(data).scores, model.predict(data).scores)


def test_a_regression_is_in_the_units_of_the_data():
    n = 60
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.randn(n, 3, dtype=torch.float64)
    y = 100 + 20 * x[:, 0]
    y[::5] = float("nan")
    data = eignn.Dataset(ring, x, y)
    assert data.task == "regression" and int(data.known.sum()) == 48
    run = eignn.train(data, epochs=200)
    values = run.model.predict(data).values[:, 0]
    assert run.result["metric"] == "r2" and abs(float(values.mean()) - 100) < 20


def test_a_search_chooses_by_validation():
    data = eignn.load_dataset("karate")
    found = eignn.search(data, trials=3, epochs=20)
    assert sum(trial["chosen"] for trial in found.trials) == 1 and len(found.results) == len(data.splits)
    again = eignn.search(data, trials=3, epochs=20)
    assert again.best == found.best


@pytest.mark.skipif("EIGNN_DATA" not in os.environ, reason="EIGNN_DATA names no folder with the published data sets")
def test_texas_reaches_the_commands_accuracy(tmp_path):
    run = eignn.train("texas", epochs=20, threads=2, seed=0)
    out = command("train", "--dataset", "texas", "--epochs", 20, "--threads", 2, "--seed", 0, "--json")
    assert json.loads(out)["test_accuracy"] == run.test
