#!/usr/bin/python3
"""What must not happen to a run: lost work, mixed folders, wrong results with exit code 0.

    reliability_test.py EIGNN FAULTS.so [TestCase.test_name ...]

docs/reliability.md has the promises; tests/chaos tries the same at random.
"""
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

EIGNN, FAULTS = "", ""


def make_data(path, n=60, m=6, splits=4):
    rng = np.random.default_rng(1)
    labels = np.arange(n) % 3
    masks = rng.random((splits, n))
    np.savez(path, edges=np.stack([rng.integers(0, n, 150), rng.integers(0, n, 150)], 1),
             node_features=(rng.normal(size=(n, m)) + labels[:, None]).astype(np.float32), node_labels=labels, train_masks=masks < 0.5,
             val_masks=(masks >= 0.5) & (masks < 0.75), test_masks=masks >= 0.75)


def wait_for(condition, seconds=30):
    deadline = time.time() + seconds
    while time.time() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_running(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def children_of(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="eignn-reliability-"))
        self.data = self.work / "set.npz"
        make_data(self.data)
        self.environment = dict(os.environ, EIGNN_CACHE=str(self.work / "cache"))
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stderr.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def train(self, *words, epochs=40):
        return ["train", "--dataset", self.data, "--epochs", epochs, "--patience", epochs, "--threads", 1, *words]

    def run_eignn(self, words, timeout=120, environment=None, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([EIGNN, *[word if isinstance(word, bytes) else str(word) for word in words]], timeout=timeout,
                              env={**self.environment, **(environment or {})}, text=True, errors="replace", **options)

    def start(self, words):
        process = subprocess.Popen([EIGNN, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.started.append(process)
        return process

    def accepted(self, words, **options):
        result = self.run_eignn(words, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, words, *parts, code=1, **options):
        result = self.run_eignn(words, **options)
        self.assertEqual(result.returncode, code, f"{words}: {result.stdout}{result.stderr}")
        lines = [line for line in result.stderr.splitlines() if line.startswith("eignn: error:")]
        self.assertEqual(len(lines), 1, result.stderr)
        for part in parts:
            self.assertIn(part, lines[0])
        return lines[0]

    def model(self, folder):
        return (self.work / folder / "model.safetensors").read_bytes()


class Jobs(Case):
    def grid(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05]\n")
        return grid

    def started_with_children(self, words):
        parent = self.start(words)
        self.assertTrue(wait_for(lambda: len(children_of(parent.pid)) == 2), "two children")
        return parent, children_of(parent.pid)

    def test_children_die_with_a_killed_parent(self):
        parent, children = self.started_with_children(self.train("--split", "all", "--jobs", 2, "--out", self.work / "r", epochs=100000))
        parent.kill()
        parent.wait()
        self.assertTrue(wait_for(lambda: not any(map(is_running, children)), 5), "no orphan")

    def test_signals_reach_the_children_which_save(self):
        whole = self.train("--split", "all", "--jobs", 2, epochs=3000)
        self.accepted([*whole, "--out", self.work / "plain"])
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            folder = self.work / f"cut-{number}"
            parent, children = self.started_with_children([*whole, "--out", folder])
            self.assertTrue(wait_for(lambda: all((folder / f"split-{k}/metrics.jsonl").exists() for k in (0, 1))))
            time.sleep(0.2)
            parent.send_signal(number)
            errors = parent.communicate(timeout=60)[1]
            self.assertEqual(parent.returncode, 130, errors)
            self.assertIn(f"--resume {folder}", errors)
            self.assertFalse(any(map(is_running, children)))
            self.accepted(["train", "--resume", folder])
            for k in range(4):
                self.assertEqual((folder / f"split-{k}/model.safetensors").read_bytes(), self.model(f"plain/split-{k}"))

    def test_a_killed_child_ends_a_search_and_the_same_command_goes_on(self):
        words = self.train("--search", self.grid(), "--jobs", 2, epochs=4000)
        plain = json.loads(self.accepted([*words, "--out", self.work / "plain", "--json"]).stdout)
        parent, children = self.started_with_children([*words, "--out", self.work / "cut"])
        time.sleep(0.5)
        os.kill(children[0], signal.SIGKILL)
        errors = parent.communicate(timeout=120)[1]
        self.assertEqual(parent.returncode, 1, errors)
        self.assertIn("signal 9", errors)
        self.assertIn("same command again", errors)
        self.assertFalse(any(map(is_running, children)))
        again = json.loads(self.accepted([*words, "--out", self.work / "cut", "--json"]).stdout)
        for key in ("test_accuracy_mean", "test_accuracy_std"):
            self.assertEqual(again[key], plain[key])
        self.assertEqual((self.work / "cut/best.toml").read_text(), (self.work / "plain/best.toml").read_text())

    def test_a_point_that_does_not_converge_is_out_and_the_search_goes_on(self):
        grid = self.work / "wild.toml"
        grid.write_text("lr = [0.01, 1e200]\n")
        result = json.loads(self.accepted(self.train("--search", grid, "--jobs", 2, "--out", self.work / "s", "--json")).stdout)
        self.assertIn("finite", result["trials"][1]["failed"])
        self.assertTrue(result["trials"][0]["chosen"])


class OneWriter(Case):
    def check_second_is_refused(self, words, folder):
        first = self.start([*words, "--out", folder])
        self.assertTrue(wait_for(lambda: any(pathlib.Path(folder).rglob("metrics.jsonl"))))
        line = self.refused([*words, "--out", folder], "is writing into this folder", f"process {first.pid} on ")
        self.assertIn(os.uname().nodename, line)
        return first

    def test_two_runs_in_one_folder(self):
        first = self.check_second_is_refused(self.train(epochs=100000), self.work / "r")
        self.refused(["train", "--resume", self.work / "r"], "is writing into this folder")
        first.send_signal(signal.SIGINT)
        first.communicate()
        self.assertFalse((self.work / "r/.lock").exists())

    def test_two_sets_of_splits_in_one_folder(self):
        self.check_second_is_refused(self.train("--split", "all", epochs=100000), self.work / "r")

    def test_two_searches_in_one_folder(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05]\n")
        self.check_second_is_refused(self.train("--search", grid, epochs=100000), self.work / "r")

    def test_two_reproductions_in_one_folder(self):
        words = ["reproduce", "chains-binary", "--models", "eignn", "--lengths", "150", "--seeds", 40, "--jobs", 1, "--runs",
                 self.work / "runs", "--out", self.work / "results"]
        self.start(words)
        self.assertTrue(wait_for(lambda: any((self.work / "runs").rglob("metrics.jsonl"))))
        self.refused(words, "is writing into this folder")

    def test_a_lock_that_a_killed_run_left_is_none(self):
        first = self.start(self.train("--out", self.work / "r", epochs=100000))
        self.assertTrue(wait_for(lambda: (self.work / "r/metrics.jsonl").exists()))
        first.kill()
        first.wait()
        self.assertTrue((self.work / "r/.lock").exists())
        self.accepted(self.train("--out", self.work / "r"))
        self.assertFalse((self.work / "r/.lock").exists())


class Streams(Case):
    def test_a_training_goes_on_when_standard_error_cannot_be_written(self):
        self.accepted(self.train("--out", self.work / "plain"))
        for k, words in enumerate(['2>/dev/full', '2>&-', '2> >(exec true)', '2>&- >&- <&-']):
            folder = self.work / f"r{k}"
            command = " ".join(f"'{word}'" for word in [EIGNN, *self.train("--out", folder)])
            subprocess.run(["bash", "-c", f"{command} {words}"], stdout=subprocess.DEVNULL, env=self.environment, timeout=60)
            self.assertEqual(self.model(f"r{k}"), self.model("plain"), words)
            lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
            self.assertEqual(len(lines), 40, words)

    def test_standard_output_that_cannot_be_written_is_an_error(self):
        for words in (self.train("--json"), ["--version"], ["train", "--help"], ["inspect", "--dataset", "karate", "--json"]):
            with open("/dev/full", "w") as full:
                result = self.run_eignn(words, stdout=full)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn("standard output", result.stderr)
        closed = subprocess.run(["bash", "-c", f"'{EIGNN}' --version >&-"], capture_output=True, text=True)
        self.assertEqual(closed.returncode, 1)

    def test_a_closed_stream_is_never_a_data_file(self):
        folder = self.work / "r"
        command = " ".join(f"'{word}'" for word in [EIGNN, *self.train("--out", folder)])
        subprocess.run(["bash", "-c", f"{command} >&- 2>&-"], env=self.environment, timeout=60)
        for line in (folder / "metrics.jsonl").read_text().splitlines():
            json.loads(line)


class Damage(Case):
    def test_a_flipped_bit_never_changes_predictions(self):
        self.accepted(self.train("--out", self.work / "r"))
        checkpoint = self.work / "r/model.safetensors"
        original = checkpoint.read_bytes()
        out = self.work / "p.csv"
        self.accepted(["predict", "--checkpoint", self.work / "r", "--out", out])
        expected = out.read_bytes()
        rng = np.random.default_rng(3)
        refused = 0
        for bit in rng.choice(8 * len(original), 24, replace=False):
            changed = bytearray(original)
            changed[bit // 8] ^= 1 << bit % 8
            checkpoint.write_bytes(changed)
            out.unlink(missing_ok=True)
            result = self.run_eignn(["predict", "--checkpoint", self.work / "r", "--out", out])
            self.assertIn(result.returncode, (0, 1), result.stderr)
            refused += result.returncode
            if result.returncode == 0:
                self.assertEqual(out.read_bytes(), expected, f"bit {bit}")
        self.assertGreater(refused, 12)

    def test_a_summary_of_another_run_or_with_an_impossible_figure_is_refused(self):
        words = self.train("--split", "all", "--out", self.work / "r")
        self.accepted(words)
        place = self.work / "r/split-1/summary.json"
        original = place.read_text()
        summary = json.loads(original)
        summary["test_accuracy"] = 7.2
        place.write_text(json.dumps(summary))
        self.refused(words, "split-1/summary.json")
        del summary["digest"]
        place.write_text(json.dumps(summary))
        self.refused(words, "7.2", "split-1/summary.json")
        place.write_text((self.work / "r/split-2/summary.json").read_text())
        self.refused(words, "another run", "split-1/summary.json")
        place.write_text(original)
        self.accepted(words)

    def test_changed_settings_of_a_set_are_refused(self):
        self.accepted(self.train("--split", "all", "--out", self.work / "r"))
        config = self.work / "r/config.toml"
        shutil.rmtree(self.work / "r/split-3")
        config.write_text(config.read_text().replace("lr = 0.01", "lr = 0.03"))
        self.refused(["train", "--resume", self.work / "r"], "config.toml", "changed")


class NoDeadEnds(Case):
    def interrupted(self, number=signal.SIGTERM, folder="cut", epochs=4000):
        process = self.start(self.train("--out", self.work / folder, epochs=epochs))
        metrics = self.work / folder / "metrics.jsonl"
        self.assertTrue(wait_for(lambda: metrics.exists() and metrics.stat().st_size > 1000))
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, errors)
        return errors

    def test_every_signal_saves(self):
        self.accepted(self.train("--out", self.work / "plain", epochs=4000))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            errors = self.interrupted(number, f"cut-{number}")
            self.assertIn("--resume", errors)
            self.accepted(["train", "--resume", self.work / f"cut-{number}"])
            self.assertEqual(self.model(f"cut-{number}"), self.model("plain"))

    def test_an_ignored_hangup_stays_ignored(self):
        process = subprocess.Popen(["nohup", EIGNN, *map(str, self.train("--out", self.work / "r", epochs=3000))],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment)
        self.started.append(process)
        self.assertTrue(wait_for(lambda: (self.work / "r/metrics.jsonl").exists()))
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_each_failing_operation_leaves_a_way_on(self):
        words = self.train("--out", self.work / "cut", epochs=4)
        self.accepted([*self.train("--out", self.work / "plain", epochs=4)])
        counted = self.work / "operations"
        under = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_UNDER": str(self.work / "cut")}
        self.accepted(words, environment={**under, "EIGNN_FAULT_COUNT": str(counted)})
        operations = max(map(int, counted.read_text().split()))
        self.assertGreater(operations, 20)
        for at in range(1, operations + 1, 3):
            shutil.rmtree(self.work / "cut", ignore_errors=True)
            result = self.run_eignn(words, environment={**under, "EIGNN_FAULT_AT": str(at), "EIGNN_FAULT_ERRNO": "28", "EIGNN_FAULT_STICKY": "1"})
            if result.returncode == 0:  # what failed was of no consequence
                continue
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("No space left", result.stderr)
            self.assertTrue("the same command" in result.stderr or "--resume" in result.stderr, f"operation {at}: {result.stderr}")
            self.accepted(["train", "--resume", self.work / "cut"] if "--resume" in result.stderr else words)
            self.assertEqual(self.model("cut"), self.model("plain"), f"operation {at}")
            self.assertEqual([name.name for name in (self.work / "cut").iterdir() if ".tmp-" in name.name], [])

    def test_the_state_is_saved_within_some_seconds(self):
        process = self.start(self.train("--out", self.work / "r", epochs=1000000))
        self.assertTrue(wait_for(lambda: (self.work / "r/resume.safetensors").exists(), 15), "saved after at most 5 s and an epoch")
        process.kill()

    def test_metrics_that_were_changed_are_refused(self):
        self.interrupted()
        metrics = self.work / "cut/metrics.jsonl"
        lines = metrics.read_text().splitlines()
        metrics.write_text("\n".join(lines[1:]) + "\n")
        self.refused(["train", "--resume", self.work / "cut"], "metrics.jsonl")

    def test_temporaries_of_dead_processes_are_removed(self):
        (self.work / "r").mkdir()
        dead = subprocess.Popen(["true"])
        dead.wait()
        for name in (self.work / f"r/model.safetensors.tmp-{dead.pid}-0", self.work / f"p.csv.tmp-{dead.pid}-3"):
            name.write_text("half")
        self.accepted(self.train("--out", self.work / "r"))
        self.accepted(["predict", "--checkpoint", self.work / "r", "--out", self.work / "p.csv"])
        self.assertEqual([path for path in self.work.rglob("*.tmp-*")], [])

    def test_a_folder_with_another_model_is_left_alone(self):
        (self.work / "r").mkdir()
        (self.work / "r/model.safetensors").write_text("mine")
        self.refused(self.train("--out", self.work / "r"), "holds a model already")
        self.assertEqual((self.work / "r/model.safetensors").read_text(), "mine")


class EarlyFailures(Case):
    def test_names_of_data_that_files_cannot_hold(self):
        for name in ("a # b", "two\nlines", "quote\"'\\", "é"):
            folder = self.work / name
            folder.mkdir()
            shutil.copy(self.data, folder / "set.npz")
            out = self.work / f"r-{len(name)}"
            self.accepted(["train", "--dataset", folder / "set.npz", "--epochs", 3, "--out", out])
            self.accepted(["evaluate", "--checkpoint", out, "--json"])
            self.accepted(["train", "--config", out / "config.toml", "--epochs", 2])
        raw = os.fsencode(self.work) + b"/\xff\xfe.npz"
        shutil.copy(self.data, raw)
        self.refused([b"train", b"--dataset", raw, b"--epochs", b"3", b"--out", os.fsencode(self.work / "raw")], "UTF-8", code=2)
        self.assertFalse((self.work / "raw/metrics.jsonl").exists())

    def test_a_disk_without_room_is_seen_before_the_first_epoch(self):
        under = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "1000"}
        self.refused(self.train("--out", self.work / "r"), "MB", "free some space", environment=under)
        self.assertEqual((self.work / "r/metrics.jsonl").read_text(), "")
        self.accepted(self.train("--out", self.work / "r"))


class Small(Case):
    def test_empty_values(self):
        for flag in ("--resume", "--config", "--out", "--search", "--dataset"):
            self.refused(["train", flag, ""], flag, "empty", code=2)

    def test_numbers(self):
        summary = json.loads(self.accepted(self.train("--json", "--seed", "007")).stdout)
        self.assertEqual(summary["seed"], 7)
        summary = json.loads(self.accepted(["train", "--dataset", self.data, "--epochs", "010", "--json"]).stdout)
        self.assertEqual(summary["epochs"], 10)
        self.refused(["train", "--seed", "18446744073709551616"], "--seed", "out of range", code=2)
        self.refused(["train", "--threads", "4000"], "--threads", "out of range", code=2)
        self.refused(["train", "--split", "all", "--jobs", "010x"], "--jobs", code=2)

    def test_a_repeated_flag(self):
        self.refused(["train", "--epochs", "3", "--epochs", "4"], "--epochs", "twice", code=2)

    def test_endless_input_ends_at_a_limit(self):
        matrix = self.work / "x.npy"
        np.save(matrix, np.eye(3))
        for words in (["train", "--config", "/dev/zero"], ["train", "--dataset", self.data, "--search", "/dev/zero"],
                      ["solve", "--graph", "/dev/zero", "--features", matrix, "--weight", matrix, "--out", self.work / "z.npy"]):
            self.refused(words, "/dev/zero", timeout=120)

    def test_an_archive_that_unpacks_beyond_memory(self):
        import zipfile
        path = self.work / "bomb.npz"
        shape = (40_000_000, 1000)  # 320 GB of float64, 1:1000 by deflate if anybody wrote it; the claim is enough
        header = ("{'descr': '<f8', 'fortran_order': False, 'shape': %r, }" % (shape,)).encode()
        header += b" " * (118 - len(header)) + b"\n"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("node_features.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
                zeros = bytes(1 << 20)
                for _ in range(64):
                    member.write(zeros)
            archive.writestr("edges.npy", b"")
            archive.writestr("node_labels.npy", b"")
        self.refused(["train", "--dataset", path], "bomb.npz")

    def test_a_search_file_that_is_cut(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05")
        self.refused(self.train("--search", grid), "grid.toml")

    def test_a_grid_of_millions_is_refused_before_it_is_built(self):
        grid = self.work / "grid.toml"
        many = ", ".join(str(k / 1000) for k in range(1, 400))
        grid.write_text(f"lr = [{many}]\nweight-decay = [{many}]\ngamma = [{many}]\n")
        self.refused(self.train("--search", grid), "grid.toml", "points", timeout=20)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: reliability_test.py EIGNN FAULTS.so [TestCase.test_name ...]")
    EIGNN, FAULTS = str(pathlib.Path(sys.argv[1]).resolve()), str(pathlib.Path(sys.argv[2]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
