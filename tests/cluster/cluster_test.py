#!/usr/bin/python3
"""Training in several processes, as a user starts it: mpirun, Open MPI's.

    cluster_test.py EIGNN [TESTS…]

What the processes compute is tested with threads (tests/train/spread_test.cpp); here it is that they find each other, that a run
in them is the run of one process, that the files are written once, and what happens when one of them fails or dies.
Ends with 77, which ctest counts as skipped, where there is no mpirun or the plugin was not built.
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

EIGNN = os.path.abspath(sys.argv[1])
PLUGIN = pathlib.Path(EIGNN).parent / "libeignn-cluster.so"
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
SETTINGS = ["--dataset", "karate", "--solver", "sparse", "--head", "l2", "--dropout", "0", "--threads", "1"]
KARATE = [*SETTINGS, "--epochs", "15"]
LONG = [*SETTINGS, "--epochs", "1000000", "--patience", "1000000"]


def launch(processes, *arguments, **options):
    command = [*MPIRUN, "-n", str(processes), *options.pop("program", [EIGNN]), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **options)


def run(processes, *arguments, **options):
    process = launch(processes, *arguments, **options)
    out, errors = process.communicate(timeout=120)
    return process.returncode, out, errors


def alone(*arguments):
    done = subprocess.run([EIGNN, *arguments], capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False)
    return done.returncode, done.stdout, done.stderr


def ours(errors):
    """The lines that are eignn's own: mpirun adds some."""
    return [line for line in errors.splitlines() if line.startswith("eignn: error")]


def can_launch():
    """Whether there is all that several processes need; says what is missing."""
    if not PLUGIN.exists() or shutil.which("mpirun") is None:
        print("skipped: no mpirun, or eignn was built without PETSc")
        return False
    if subprocess.run([*MPIRUN, "-n", "2", "true"], capture_output=True, env=ENVIRONMENT, check=False).returncode != 0:
        print("skipped: mpirun starts nothing on this machine")
        return False
    return True


def epochs(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def processes_of(folder):
    """The ids of the eignn processes that write into this folder, mpirun apart."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == EIGNN.encode() and str(folder).encode() in words:
            found.append(int(entry.name))
    return sorted(found)


class Cluster(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="eignn-cluster-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)

    def assert_alike(self, folder, other, tolerance):
        mine, theirs = epochs(folder), epochs(other)
        self.assertEqual(len(mine), len(theirs))
        for a, b in zip(mine, theirs):
            for key in ("train_loss", "val_loss", "val_accuracy"):
                self.assertAlmostEqual(a[key], b[key], delta=tolerance)
        with open(folder / "predictions.csv", encoding="utf-8") as one, open(other / "predictions.csv", encoding="utf-8") as two:
            for a, b in zip(csv.DictReader(one), csv.DictReader(two), strict=True):
                for key in ("node", "split", "label", "predicted"):
                    self.assertEqual(a[key], b[key])
                self.assertAlmostEqual(float(a["p0"]), float(b["p0"]), delta=max(tolerance, 2e-6))

    def test_a_run_in_several_processes_is_the_run_of_one(self):
        for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-6)):
            one = self.home / f"one-{dtype}"
            code, _, errors = alone("train", *KARATE, "--dtype", dtype, "--out", str(one))
            self.assertEqual(code, 0, errors)
            for processes, grid in ((2, None), (3, "3x1"), (4, "2x2")) if dtype == "float64" else ((2, "2x1"),):
                folder = self.home / f"{processes}-{dtype}"
                flags = ["--grid", grid] if grid else []
                code, out, errors = run(processes, "train", *KARATE, "--dtype", dtype, "--json", "--out", str(folder), *flags)
                self.assertEqual(code, 0, errors)
                self.assertEqual(json.loads(out)["epochs"], 15)  # one object: the others print nothing
                self.assert_alike(folder, one, tolerance)
                self.assertEqual(sorted(p.name for p in folder.iterdir()), sorted(p.name for p in one.iterdir()))

    def test_a_process_that_dies_ends_the_job_which_can_be_resumed(self):
        for victim in (0, 1, 2):
            folder = self.home / f"victim-{victim}"
            process = launch(3, "train", *LONG, "--dtype", "float64", "--out", str(folder))
            self.wait_for(lambda: (folder / "resume.safetensors").exists(), 60)
            killed = time.monotonic()
            os.kill(processes_of(folder)[victim], signal.SIGKILL)
            _, errors = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - killed, 10)
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(len(ours(errors)), 1, errors)
            self.assertIn("of 3 died, and the others end; go on with: mpirun -n 3 eignn train --resume", errors)
            self.assertFalse(list(folder.glob("*.tmp-*")) and processes_of(folder))
            done = len(epochs(folder))
            code, _, errors = run(2, "train", "--resume", str(folder), "--epochs", str(done + 50))
            self.assertEqual(code, 0, errors)
            self.assertGreaterEqual(len(epochs(folder)), done)
            self.assertTrue((folder / "summary.json").exists())

    def test_a_signal_to_mpirun_saves_the_run(self):
        folder = self.home / "stopped"
        process = launch(2, "train", *LONG, "--out", str(folder))
        self.wait_for(lambda: (folder / "metrics.jsonl").exists() and len(epochs(folder)) > 5, 60)
        process.send_signal(signal.SIGINT)  # as Ctrl-C; mpirun may end before it has passed on what eignn says
        _, errors = process.communicate(timeout=30)
        self.wait_for(lambda: (folder / "resume.safetensors").exists() and not processes_of(folder), 10)
        code, _, errors = run(2, "train", "--resume", str(folder), "--epochs", str(len(epochs(folder)) + 5))
        self.assertEqual(code, 0, errors)

    def test_an_error_of_all_or_of_one_is_one_line(self):
        folder = self.home / "taken"
        self.assertEqual(alone("train", *KARATE, "--out", str(folder))[0], 0)
        three = self.home / "three.mtx"
        for arguments, code, words in (
                (["train", *KARATE, "--out", str(folder)], 1, "the folder holds a run already"),
                (["train", "--dataset", "karate", "--solver", "krylov"], 2, "the solver krylov cannot be spread over processes (--solver)"),
                (["train", "--dataset", "karate", "--model", "gcn"], 2, "the model gcn cannot be spread"),
                (["train", "--dataset", "karate", "--split", "all"], 2, "train one run together"),
                (["train", "--dataset", "karate", "--grid", "3x1"], 2, "the places of 3x1 are not 2, as many as there are processes (--grid)"),
                (["train", "--dataset", "karate", "--order", "best"], 2, "order"),
                (["train", "--dataset", "karate", "--grid", "two"], 2, "'two' is no grid (--grid)"),
                (["train", "--dataset", str(three)], 1, "three.mtx"),
                (["train", "--epochs", "ten"], 2, "--epochs"),
                (["attack", "--checkpoint", str(folder)], 2, "attack runs in one process, and 2 were started"),
                (["predict", "--checkpoint", str(folder), "--out", str(self.home / "no/such/p.csv")], 1, "no/such"),
                (["predict", "--checkpoint", str(folder), "--solver", "direct", "--out", "p.csv"], 2, "the solver direct cannot be spread"),
                (["evaluate", "--checkpoint", str(self.home)], 1, str(self.home)),
                (["explain", "--checkpoint", str(folder), "--node", "34"], 2, "there is no node '34' (--node)"),
                (["explain", "--checkpoint", str(folder), "--node", "3", "--edges"], 2, "by nodes and features alone (--edges)"),
        ):
            got, out, errors = run(2, *arguments)
            self.assertEqual(len(ours(errors)), 1, errors)
            self.assertIn(words, ours(errors)[0])
            self.assertEqual(got, code, errors)
            self.assertEqual(out, "")

    def test_another_order_of_the_nodes_changes_nothing_but_round_off(self):
        settings = ["train", "--dataset", "chains", "--chain-length", "30", "--solver", "sparse", "--head", "l2", "--dropout", "0",
                    "--threads", "1", "--epochs", "10", "--dtype", "float64"]
        one = self.home / "one"
        code, _, errors = alone(*settings, "--out", str(one))
        self.assertEqual(code, 0, errors)
        for order, processes, grid in (("bfs", 3, "3x1"), ("ptscotch", 2, "2x1"), ("ptscotch", 4, "2x2")):
            folder = self.home / f"{order}-{processes}"
            code, _, errors = run(processes, *settings, "--order", order, "--grid", grid, "--out", str(folder))
            self.assertEqual(code, 0, errors)
            self.assert_alike(folder, one, 1e-11)
            code, _, errors = run(processes, "predict", "--checkpoint", str(folder), "--order", order, "--out", str(self.home / "p.csv"))
            self.assertEqual(code, 0, errors)
            self.assert_same_tables(self.home / "p.csv", one / "predictions.csv")

    def test_predictions_evaluations_and_explanations_are_those_of_one_process(self):
        folder = self.home / "run"
        code, _, errors = alone("train", *KARATE, "--dtype", "float64", "--out", str(folder))
        self.assertEqual(code, 0, errors)
        model = ["--checkpoint", str(folder)]
        one, many = self.home / "one.csv", self.home / "many.csv"
        code, alone_out, errors = alone("predict", *model, "--out", str(one), "--json")
        self.assertEqual(code, 0, errors)
        for processes, flags in ((2, []), (3, ["--grid", "3x1"]), (4, ["--grid", "2x2"])):
            code, out, errors = run(processes, "predict", *model, "--out", str(many), "--json", *flags)
            self.assertEqual(code, 0, errors)
            said, expected = json.loads(out), json.loads(alone_out)
            self.assertEqual({**said, "out": ""}, {**expected, "out": ""})
            self.assert_same_tables(many, one)
            code, out, errors = run(processes, "predict", *model, "--out", str(self.home / "p.npy"), *flags)
            self.assertEqual((code, out.count("\n")), (0, 1), errors)
            self.assertEqual((self.home / "p.npy").stat().st_size % 64, 34 * 2 * 8 % 64)
        new_node = ["predict", "--node", ",".join(["0.5"] * 34), "--neighbours", "0,33"]
        for command in (["evaluate"], ["explain", "--node", "5", "--top", "0"], new_node):
            code, out, errors = alone(*command, *model, "--json")
            self.assertEqual(code, 0, errors)
            expected = json.loads(out)
            code, out, errors = run(3, *command, *model, "--json")
            self.assertEqual(code, 0, errors)
            self.assert_same_values(json.loads(out), expected)

    def assert_same_tables(self, path, other):
        with open(path, encoding="utf-8") as one, open(other, encoding="utf-8") as two:
            for a, b in zip(csv.DictReader(one), csv.DictReader(two), strict=True):
                for key in ("node", "split", "label", "predicted"):
                    self.assertEqual(a[key], b[key])
                self.assertAlmostEqual(float(a["p0"]), float(b["p0"]), delta=2e-6)

    def assert_same_values(self, mine, expected):
        """Equal but for round-off in numbers, and for the order of equal contributions."""
        if isinstance(expected, dict):
            self.assertEqual(mine.keys(), expected.keys())
            for key, value in expected.items():
                if key not in ("seconds", "remainder", "features_remainder"):
                    self.assert_same_values(mine[key], value)
        elif isinstance(expected, list):
            self.assertEqual(len(mine), len(expected))
            named = [sorted(rows, key=lambda row: str(row.get("node", row.get("feature", row.get("hops")))))
                     if expected and isinstance(expected[0], dict) else rows for rows in (mine, expected)]
            for a, b in zip(*named):
                self.assert_same_values(a, b)
        elif isinstance(expected, float):
            self.assertAlmostEqual(mine, expected, delta=1e-9)
        else:
            self.assertEqual(mine, expected)

    def test_whole_graphs_are_dealt_to_the_processes(self):
        data = self.home / "several.npz"
        self.write_several_graphs(data)
        settings = ["train", "--dataset", str(data), "--head", "residual", "--width", "8", "--blocks", "1", "--dropout", "0.2",
                    "--batch-graphs", "2", "--epochs", "8", "--dtype", "float64", "--threads", "1", "--feature-norm", "none"]
        one = self.home / "one"
        code, _, errors = alone(*settings, "--out", str(one))
        self.assertEqual(code, 0, errors)
        for processes in (2, 4):
            folder = self.home / str(processes)
            code, _, errors = run(processes, *settings, "--out", str(folder))
            self.assertEqual(code, 0, errors)
            self.assert_alike(folder, one, 1e-10)
            code, out, errors = run(processes, "predict", "--checkpoint", str(folder), "--out", str(self.home / "p.csv"))
            self.assertEqual((code, out.count("\n")), (0, 1), errors)
            self.assert_same_tables(self.home / "p.csv", one / "predictions.csv")
            code, out, errors = run(processes, "evaluate", "--checkpoint", str(folder), "--json")
            self.assertEqual(code, 0, errors)
            code, expected, _ = alone("evaluate", "--checkpoint", str(one), "--json")
            self.assertAlmostEqual(json.loads(out)["loss"]["test"], json.loads(expected)["loss"]["test"], delta=1e-9)
        code, _, errors = run(2, "explain", "--checkpoint", str(folder), "--node", "0")
        self.assertEqual((code, len(ours(errors))), (2, 1), errors)
        self.assertIn("explained by one process", errors)
        code, _, errors = alone("inspect", "--dataset", str(data), "--ranks", "2")
        self.assertEqual((code, len(ours(errors))), (2, 1), errors)
        self.assertIn("8 graphs, which are dealt whole and have no grid (--ranks)", errors)
        code, _, errors = run(9, *settings)
        self.assertEqual((code, len(ours(errors))), (2, 1), errors)
        self.assertIn("9 processes have 8 graphs to share", errors)

    def write_several_graphs(self, path):
        random = np.random.default_rng(2)
        graph = np.repeat(np.arange(8), [9, 14, 7, 20, 11, 8, 16, 10])
        source = random.integers(0, len(graph), 900)
        target = random.integers(0, len(graph), 900)
        within = graph[source] == graph[target]
        masks = {name: np.isin(graph, graphs)[None] for name, graphs in
                 (("train", range(5)), ("val", [5]), ("test", [6, 7]))}
        np.savez(path, edges=np.stack([source, target], 1)[within], node_features=random.standard_normal((len(graph), 4)),
                 node_labels=random.integers(0, 3, len(graph)), graph_id=graph,
                 **{f"{name}_masks": mask for name, mask in masks.items()})

    def test_more_processes_than_nodes_are_refused(self):
        data = self.home / "small"
        data.mkdir()
        (data / "edges.csv").write_text("".join(f"{v},{v + 1}\n" for v in range(9)))
        (data / "nodes.csv").write_text("id,p,q,label\n" + "".join(f"{v},{v * v % 7},{v % 3},{v % 2}\n" for v in range(10)))
        code, _, errors = run(11, "train", "--dataset", str(data), "--recipe", "paper", "--solver", "sparse", "--grid", "11x1")
        self.assertEqual(len(ours(errors)), 1, errors)
        self.assertIn("11 processes have 10 nodes to share", errors)
        self.assertEqual(code, 2)

    def test_processes_that_read_different_files_are_refused(self):
        program = self.home / "each.sh"
        for rank in (0, 1):
            folder = self.home / str(rank) / "mine"
            folder.mkdir(parents=True)
            (folder / "edges.csv").write_text("".join(f"{v},{v + 1}\n" for v in range(29)) + f"0,{5 + rank}\n")
            (folder / "nodes.csv").write_text("id,p,q,label\n" + "".join(f"{v},{v},{v % 3},{v % 2}\n" for v in range(30)))
        program.write_text(f'#!/bin/sh\ncd {self.home}/$OMPI_COMM_WORLD_RANK\nexec {EIGNN} "$@"\n')
        program.chmod(0o755)
        code, _, errors = run(2, "train", "--dataset", "./mine", "--recipe", "paper", "--epochs", "2", program=[str(program)])
        self.assertEqual(len(ours(errors)), 1, errors)
        self.assertIn("the processes have read different data", errors)
        self.assertEqual(code, 1)

    def test_without_the_plugin_a_second_process_is_refused(self):
        folder = self.home / "bin"
        folder.mkdir()
        for name in ("eignn", "libeignn-engine.so"):
            shutil.copy(pathlib.Path(EIGNN).parent / name, folder / name)
        program = [str(folder / "eignn")]
        code, _, errors = run(2, "train", *KARATE, program=program)
        self.assertEqual(len(ours(errors)), 1, errors)
        self.assertIn("built without message passing, and runs in one process (libeignn-cluster.so)", errors)
        self.assertEqual(code, 1)
        one = subprocess.run([*program, "train", *KARATE], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(one.returncode, 0, one.stderr)

    def test_one_process_of_mpirun_is_an_ordinary_run(self):
        code, out, errors = run(1, "train", *KARATE, "--json")
        self.assertEqual(code, 0, errors)
        self.assertEqual(json.loads(out)["epochs"], 15)

    def test_shards_are_read_apart_and_inspected(self):
        data, shards = self.home / "mine", self.home / "shards"
        data.mkdir()
        (data / "edges.csv").write_text("".join(f"{v},{(v * 7 + 3) % 60}\n{v},{(v + 1) % 60}\n" for v in range(60)))
        (data / "features.csv").write_text("p,q,r\n" + "".join(f"{v},{v % 3},{v * v % 11}\n" for v in range(60)))
        (data / "labels.csv").write_text("label\n" + "".join(f"{v * 7 % 60 % 2}\n" for v in range(60)))
        (data / "splits.csv").write_text("id,part\n" + "".join(f"{v},{('train', 'val', 'test')[v % 3]}\n" for v in range(60)))
        code, _, errors = alone("convert", "--dataset", str(data), "--shards", "3", "--out", str(shards))
        self.assertEqual(code, 0, errors)
        code, out, errors = alone("inspect", "--dataset", str(shards), "--ranks", "4", "--json")
        self.assertEqual(code, 0, errors)
        found = json.loads(out)
        self.assertEqual((found["nodes"], found["shards"]), (60, True))
        self.assertEqual([row["grid"] for row in found["grids"]], ["2x2", "4x1"])  # three features: not 1x4
        settings = ["train", "--dataset", str(shards), "--recipe", "paper", "--solver", "sparse", "--epochs", "10",
                    "--dtype", "float64", "--threads", "1"]
        one, two = self.home / "one", self.home / "two"
        code, _, errors = alone(*settings, "--out", str(one))
        self.assertEqual(code, 0, errors)
        code, _, errors = run(2, *settings, "--out", str(two))
        self.assertEqual(code, 0, errors)
        self.assert_alike(two, one, 1e-12)
        # A model of shards, and of an ordinary data set, on rows of shards.
        code, _, errors = alone("train", "--dataset", str(data), *settings[3:], "--out", str(self.home / "whole"))
        self.assertEqual(code, 0, errors)
        for run_folder in (two, self.home / "whole"):
            flags = ["--checkpoint", str(run_folder), "--dataset", str(shards)]
            code, out, errors = run(3, "predict", *flags, "--grid", "3x1", "--out", str(self.home / "p.csv"))
            self.assertEqual((code, out.count("\n")), (0, 1), errors)
            self.assert_same_tables(self.home / "p.csv", one / "predictions.csv")
            code, out, errors = run(2, "explain", *flags, "--node", "59", "--json")
            self.assertEqual(code, 0, errors)
            self.assertEqual(json.loads(out)["node"], 59)

    def wait_for(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.05)


if __name__ == "__main__":
    if not can_launch():
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
