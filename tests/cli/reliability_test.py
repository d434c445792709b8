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


def make_data(path, n=120, m=6, splits=4):
    rng = np.random.default_rng(1)
    labels = np.arange(n) % 3
    masks = rng.random((splits, n))
    np.savez(path, edges=np.stack([rng.integers(0, n, 300), rng.integers(0, n, 300)], 1),
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
        # The paper's model, which batches train too.
        paper = ["--head", "plain", "--encoder", 0, "--equilibria", 1, "--intercept", "off", "--dropout", 0, "--feature-norm", "none"]
        return ["train", "--dataset", self.data, *paper, "--epochs", epochs, "--patience", epochs, "--threads", 1, *words]

    def run_eignn(self, words, timeout=120, environment=None, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([EIGNN, *[word if isinstance(word, bytes) else str(word) for word in words]], timeout=timeout,
                              env={**self.environment, **(environment or {})}, text=True, errors="replace", **options)

    def start(self, words, environment=None):
        process = subprocess.Popen([EIGNN, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**self.environment, **(environment or {})})
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

    def names(self, folder):
        """Of the files in a folder and below it."""
        return sorted(path.relative_to(self.work / folder).as_posix() for path in (self.work / folder).rglob("*") if path.is_file())

    def interrupted(self, number=signal.SIGTERM, folder="cut", epochs=4000):
        process = self.start(self.train("--out", self.work / folder, epochs=epochs))
        metrics = self.work / folder / "metrics.jsonl"
        self.assertTrue(wait_for(lambda: metrics.exists() and metrics.stat().st_size > 1000))
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, errors)
        return errors


class Jobs(Case):
    def grid(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05]\n")
        return grid

    def started_with_children(self, words, environment=None):
        parent = self.start(words, environment)
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

    def test_children_are_sent_the_signal_that_came(self):
        words = self.train("--split", "all", "--jobs", 2, epochs=100000)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            sent, folder = self.work / f"sent-{number}", self.work / f"r-{number}"
            parent, children = self.started_with_children([*words, "--out", folder],
                                                          {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SIGNALS": str(sent)})
            self.assertTrue(wait_for(lambda: all((folder / f"split-{k}/metrics.jsonl").exists() for k in (0, 1))))
            parent.send_signal(number)
            errors = parent.communicate(timeout=60)[1]
            self.assertEqual(parent.returncode, 130, errors)
            self.assertEqual(sent.read_text().split(), [str(int(number))] * 2)
            for k in (0, 1):
                self.assertTrue((folder / f"split-{k}/resume.safetensors").exists())

    def test_an_interruption_that_the_parent_passes_on_is_no_second_one(self):
        """Ctrl-C reaches parent and child at once; the parent may pass it on when the machine has time for it."""
        wrapper = f"""
import os, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:] + ["--parent", str(os.getpid())], stderr=subprocess.PIPE, text=True)
while child.poll() is None and not os.path.exists(sys.argv[-1] + "/metrics.jsonl"):
    time.sleep(0.05)
subprocess.run(["kill", "-INT", str(child.pid)])  # by another process than its parent, as from the terminal
deadline = time.time() + 60
while child.poll() is None and time.time() < deadline:
    time.sleep(0.7)
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
print(child.wait(), child.stderr.read())
"""
        folder = self.work / "r"
        # One epoch takes some seconds here, so that the signals come during it.
        slow = ["--dataset", "chains", "--chain-length", 400, "--chains-per-class", 100, "--solver", "sparse", "--threads", 1,
                "--epochs", 100000, "--patience", 100000, "--dtype", "float64"]
        result = subprocess.run([sys.executable, "-c", wrapper, EIGNN, "train", *map(str, slow), "--out", str(folder)], capture_output=True,
                                text=True, env=self.environment, timeout=120)
        self.assertTrue(result.stdout.startswith("130 "), result.stdout + result.stderr)
        self.assertTrue((folder / "resume.safetensors").exists())

    def test_a_signal_while_children_start_is_an_interruption(self):
        words = self.train("--split", "all", "--jobs", 2, epochs=2000)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            folder = self.work / f"early-{number}"
            parent = self.start([*words, "--out", folder])
            self.assertTrue(wait_for(lambda: children_of(parent.pid)))
            parent.send_signal(number)  # before the children have a handler
            errors = parent.communicate(timeout=60)[1]
            self.assertEqual(parent.returncode, 130, errors)
            self.assertIn(f"--resume {folder}", errors)
        self.accepted(["train", "--resume", folder])

    def test_a_job_ends_with_its_parent_where_the_system_does_not_see_to_it(self):
        folder = self.work / "r"
        result = self.run_eignn(self.train("--parent", 1, "--out", folder, epochs=100000))  # 1 is nobody's parent here
        self.assertEqual(result.returncode, 130, result.stderr)
        self.assertTrue((folder / "resume.safetensors").exists())

    def test_what_a_killed_parent_left_in_finished_folders_is_removed(self):
        scraps = ["job.toml", "errors.txt", "failure.txt", "resume.safetensors", ".lock", "model.safetensors.tmp-1-0"]
        for name, words in (("splits", ["--split", "all"]), ("search", ["--search", self.grid()])):
            for more in ([], ["--jobs", 2], ["--batch-runs", 2]):
                folder = self.work / name
                shutil.rmtree(folder, ignore_errors=True)
                command = self.train(*words, *more, "--out", folder)
                self.accepted(command)
                whole = self.names(folder)
                for summary in list(folder.rglob("summary.json")):
                    for scrap in scraps + (["model.safetensors", "predictions.csv", "prediction_sets.csv"] if name == "search" else []):
                        (summary.parent / scrap).write_text("left")
                self.accepted(command)
                self.assertEqual(self.names(folder), whole)

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

    def test_a_point_that_did_not_converge_is_a_result_however_it_was_run(self):
        grid = self.work / "wild.toml"
        grid.write_text("lr = [0.01, 1e200]\nsplits = [0, 1]\n")
        found = {}
        for name, more in (("one", []), ("jobs", ["--jobs", 2]), ("batch", ["--batch-runs", 2])):
            folder = self.work / name
            self.accepted(self.train("--search", grid, *more, "--out", folder))
            found[name] = self.names(folder)
            bad = folder / "trials/001/split-0"
            self.assertEqual(sorted(path.name for path in bad.iterdir()), ["config.toml", "failure.json", "metrics.jsonl"])
            before = (bad / "metrics.jsonl").stat().st_mtime_ns
            again = json.loads(self.accepted(self.train("--search", grid, *more, "--out", folder, "--json")).stdout)
            self.assertIn("finite", again["trials"][1]["failed"])
            self.assertEqual((bad / "metrics.jsonl").stat().st_mtime_ns, before, "it is not trained again")
        self.assertEqual(found["one"], found["jobs"])
        self.assertEqual(found["one"], found["batch"])

    def test_a_split_that_does_not_converge_leaves_no_scraps(self):
        for name, more in (("one", []), ("jobs", ["--jobs", 2])):
            self.refused(self.train("--split", "all", "--lr", "1e200", *more, "--out", self.work / name), "finite")
            left = {pathlib.Path(path).name for path in self.names(name)}
            self.assertLessEqual(left, {"config.toml", "metrics.jsonl"})

    def test_what_is_left_of_a_batch_becomes_the_runs_that_it_would_have_been(self):
        """Masks of dropout are drawn for the whole batch, and products round by its size."""
        grid = self.grid()
        for name, words, lost in (("splits", ["--split", "all", "--batch-runs", 3], ("split-1", "split-3")),
                                  ("search", ["--search", grid, "--batch-runs", 3], ("trials/000/split-1", "trials/001/split-3"))):
            folder = self.work / name
            command = [word if before != "--dropout" else 0.5 for before, word in
                       zip([""] + self.train(*words, "--out", folder), self.train(*words, "--out", folder))]
            self.accepted(command)

            def losses():
                return {path.parent.relative_to(folder): [json.loads(line)["val_loss"] for line in path.read_text().splitlines()]
                        for path in folder.rglob("metrics.jsonl")}

            whole = losses()
            untouched = {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json") if not path.match(f"*{lost[0]}/*")
                         and not path.match(f"*{lost[1]}/*")}
            for one in lost:
                shutil.rmtree(folder / one)
            self.accepted(command)
            self.assertEqual(losses(), whole)
            for path, time_of_change in untouched.items():
                self.assertEqual(path.stat().st_mtime_ns, time_of_change)

    def test_a_batch_says_that_it_saves_nothing_on_its_way(self):
        grid = self.grid()
        for name, words in (("splits", ["--split", "all"]), ("search", ["--search", grid])):
            result = self.accepted(self.train(*words, "--batch-runs", 2, "--out", self.work / name, epochs=3))
            self.assertIn("kept when it has ended", result.stderr)

    def test_a_batch_of_many_runs_has_files_enough(self):
        make_data(self.data, splits=60)
        words = " ".join(f"'{word}'" for word in [EIGNN, *self.train("--split", "all", "--batch-runs", 60, "--out", self.work / "r", epochs=3)])
        result = subprocess.run(["bash", "-c", f"ulimit -Sn 64; {words}"], capture_output=True, text=True, env=self.environment, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)


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
        line = self.refused(words, "is writing into this folder", "process ")
        self.assertIn(os.uname().nodename, line)

    def test_two_reproductions_with_one_place_for_their_results(self):
        words = ["reproduce", "chains-binary", "--models", "eignn", "--lengths", "150", "--seeds", 40, "--jobs", 1, "--out",
                 self.work / "results"]
        first = self.start([*words, "--runs", self.work / "runs"])
        self.assertTrue(wait_for(lambda: any((self.work / "runs").rglob("metrics.jsonl"))))
        self.refused([*words, "--runs", self.work / "others"], "is writing into this folder", f"process {first.pid} on {os.uname().nodename}")
        quick = ["reproduce", "finite-depth", "--models", "ignn", "--lengths", "10", "--seeds", 1, "--epochs", 2, "--jobs", 1, "--quick"]
        self.accepted([*quick, "--out", self.work / "results", "--runs", self.work / "others"])  # other results, the same folder
        self.assertEqual([path.name for path in (self.work / "results").iterdir() if path.name.startswith(".finite")], [])

    def test_a_disk_without_locks_gives_a_warning_and_a_result(self):
        result = self.accepted(self.train("--out", self.work / "r"), environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_NO_LOCKS": "1"})
        self.assertIn("no locks", result.stderr)
        self.assertNotIn(".lock", self.names("r"))

    def test_users_own_files_are_left_alone(self):
        mine = ["u/backup.tmp-2023-11/thesis.tex", "u/results.csv.tmp-2023-11-05", "u/backup.tmp-2023-11-05", "u/notes.tmp-1-2/x"]
        for name in mine:
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text("dear to me")
        self.accepted(self.train("--out", self.work / "u"))
        for name in mine:
            self.assertEqual((self.work / name).read_text(), "dear to me")

    def test_a_temporary_whose_writer_lives_is_left_alone(self):
        import fcntl
        (self.work / "r").mkdir()
        temporary = self.work / "r/model.safetensors.tmp-99999999-0"
        with open(temporary, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.accepted(self.train("--out", self.work / "r"))
            self.assertTrue(temporary.exists())

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

    def test_a_reader_that_has_seen_enough_ends_the_command_without_a_word(self):
        for words in (["--version"], ["train", "--help"], ["inspect", "--dataset", "karate", "--json"]):
            reading, writing = os.pipe()
            os.close(reading)
            result = self.run_eignn(words, stdout=writing)
            os.close(writing)
            self.assertEqual(result.returncode, 128 + signal.SIGPIPE, words)
            self.assertEqual(result.stderr, "", words)

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

    def test_a_flipped_bit_in_a_saved_state_is_refused_or_without_effect(self):
        self.accepted(self.train("--out", self.work / "plain", epochs=4000))
        self.interrupted()
        rng = np.random.default_rng(4)
        original = (self.work / "cut/resume.safetensors").read_bytes()
        refused = 0
        # Some in the header, which is a third of the file at most; the others anywhere.
        bits = [*rng.choice(8 * 2000, 6, replace=False), *rng.choice(8 * len(original), 12, replace=False)]
        for bit in bits:
            folder = self.work / "flipped"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.work / "cut", folder)
            changed = bytearray(original)
            changed[bit // 8] ^= 1 << bit % 8
            (folder / "resume.safetensors").write_bytes(changed)
            result = self.run_eignn(["train", "--resume", folder])
            if result.returncode == 0:
                self.assertEqual(self.model("flipped"), self.model("plain"), f"bit {bit}")
                continue
            refused += 1
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("resume.safetensors", result.stderr)
            self.assertIn("begins anew", result.stderr)
        self.assertGreater(refused, 12)
        # What the message says works.
        (folder / "resume.safetensors").unlink()
        self.accepted(self.train("--out", folder, epochs=4000))
        self.assertEqual(self.model("flipped"), self.model("plain"))

    def test_any_reader_of_safetensors_opens_sealed_files(self):
        """By the format's own words: 8 bytes of length, a JSON header, the tensors from there."""
        self.interrupted()
        self.accepted(self.train("--out", self.work / "r"))
        types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
        for path in (self.work / "r/model.safetensors", self.work / "cut/resume.safetensors"):
            content = path.read_bytes()
            size = int.from_bytes(content[:8], "little")
            header = json.loads(content[8:8 + size])
            data = content[8 + size:]
            metadata = header.pop("__metadata__")
            self.assertEqual(len(metadata["digest"]), 32)
            self.assertTrue(all(isinstance(text, str) for text in metadata.values()))
            ends = 0
            for tensor in sorted(header.values(), key=lambda tensor: tensor["data_offsets"]):
                begin, end = tensor["data_offsets"]
                self.assertEqual(begin, ends)
                ends = end
                array = np.frombuffer(data[begin:end], types[tensor["dtype"]]).reshape(tensor["shape"])
                self.assertTrue(np.isfinite(array.astype(float)).all() or "stopping" in header)
            self.assertEqual(ends, len(data))
        size = int.from_bytes((self.work / "r/model.safetensors").read_bytes()[:8], "little")
        self.assertEqual(size % 8, 0)

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
        self.refused(words, "digest", "split-1/summary.json")
        del summary["format"]  # as an older version wrote it
        place.write_text(json.dumps(summary))
        self.refused(words, "7.2", "split-1/summary.json")
        place.write_text((self.work / "r/split-2/summary.json").read_text())
        self.refused(words, "another run", "split-1/summary.json")
        place.write_text(original)
        self.accepted(words)

    def test_changed_settings_that_are_given_again_are_said(self):
        self.accepted(self.train("--out", self.work / "r", epochs=3))
        config = self.work / "r/config.toml"
        again = ["train", "--config", config, "--json"]
        self.assertNotIn("changed", self.accepted(again).stderr)
        original = config.read_bytes()
        changed = bytearray(original)
        changed[original.index(b"lr = 0.01") + 8] ^= 2  # 1 becomes 3
        config.write_bytes(changed)
        result = self.accepted(again)
        self.assertEqual(json.loads(result.stdout)["config"]["lr"], 0.03)
        warnings = [line for line in result.stderr.splitlines() if "warning" in line and "config.toml" in line]
        self.assertEqual(len(warnings), 1, result.stderr)
        self.assertIn("were changed after", warnings[0])
        config.write_text("\n".join(line for line in config.read_text().splitlines() if not line.startswith("# digest")) + "\n")
        self.assertNotIn("changed", self.accepted(again).stderr)

    def test_changed_settings_of_a_set_are_refused(self):
        self.accepted(self.train("--split", "all", "--out", self.work / "r"))
        config = self.work / "r/config.toml"
        shutil.rmtree(self.work / "r/split-3")
        config.write_text(config.read_text().replace("lr = 0.01", "lr = 0.03"))
        self.refused(["train", "--resume", self.work / "r"], "config.toml", "changed")


class NoDeadEnds(Case):
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

    def check_failing_operations(self, words, step, least):
        """Each `step`-th operation on a file fails, on from there or once, as on a full or a broken disk."""
        plain, cut = self.work / "plain", self.work / "cut"
        shutil.rmtree(plain, ignore_errors=True)
        self.accepted([*words, "--out", plain])
        models = {name: (plain / name).read_bytes() for name in self.names("plain") if name.endswith((".safetensors", "best.toml"))}
        words = [*words, "--out", cut]
        under = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_UNDER": str(cut)}
        counted = self.work / "operations"
        counted.unlink(missing_ok=True)
        shutil.rmtree(cut, ignore_errors=True)
        self.accepted(words, environment={**under, "EIGNN_FAULT_COUNT": str(counted)})
        operations = max(map(int, counted.read_text().split()))
        self.assertGreater(operations, least)
        for k, at in enumerate(range(1, operations + 1, step)):
            error, text = ((28, "No space left"), (5, "Input/output error"))[k % 2]
            sticky = str(k // 2 % 2)
            what = f"operation {at}, {text}{'' if sticky == '1' else ', once'}"
            shutil.rmtree(cut, ignore_errors=True)
            result = self.run_eignn(words, environment={**under, "EIGNN_FAULT_AT": str(at), "EIGNN_FAULT_ERRNO": str(error),
                                                        "EIGNN_FAULT_STICKY": sticky})
            if result.returncode != 0:  # otherwise what failed was of no consequence
                self.assertEqual(result.returncode, 1, f"{what}: {result.stderr}")
                self.assertIn(text, result.stderr, what)
                resume = "--resume" in result.stderr
                self.assertTrue(resume or "the same command" in result.stderr, f"{what}: {result.stderr}")
                again = self.run_eignn(["train", "--resume", cut] if resume else words)
                self.assertEqual(again.returncode, 0, f"{what}: {result.stderr}{again.stderr}")
            for name, expected in models.items():
                self.assertEqual((cut / name).read_bytes(), expected, f"{what}: {name}")
            if result.returncode != 0:
                self.assertEqual([name for name in self.names("cut") if ".tmp-" in name or "resume.safetensors" in name], [], what)

    def test_each_failing_operation_of_a_run_leaves_a_way_on(self):
        self.check_failing_operations(self.train(epochs=4), 2, 20)

    def test_failing_operations_of_splits_leave_a_way_on(self):
        self.check_failing_operations(self.train("--split", "all", epochs=3), 17, 80)

    def test_failing_operations_of_splits_in_processes_leave_a_way_on(self):
        self.check_failing_operations(self.train("--split", "all", "--jobs", 2, epochs=3), 9, 20)

    def test_what_a_job_left_and_cannot_be_removed_has_a_way_on(self):
        words = self.train("--split", "all", "--jobs", 2, "--out", self.work / "r", epochs=3)
        broken = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_UNDER": str(self.work / "r/split-1/failure.txt"), "EIGNN_FAULT_AT": "1",
                  "EIGNN_FAULT_ERRNO": "5"}
        self.refused(words, "Input/output error", "--resume", environment=broken)
        self.accepted(words)

    def test_failing_operations_of_a_search_leave_a_way_on(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05]\nsplits = [0]\n")
        self.check_failing_operations(self.train("--search", grid, epochs=3), 17, 80)

    def test_a_run_that_was_killed_before_its_last_file_was_removed_is_complete(self):
        self.interrupted()
        state = (self.work / "cut/resume.safetensors").read_bytes()
        self.accepted(["train", "--resume", self.work / "cut"])
        for words in (["train", "--resume", self.work / "cut"], self.train("--out", self.work / "cut", epochs=4000)):
            (self.work / "cut/resume.safetensors").write_bytes(state)
            self.assertRegex(self.refused(words), "this run is complete|holds a run already")
            self.assertFalse((self.work / "cut/resume.safetensors").exists())
            self.assertFalse((self.work / "cut/.lock").exists())

    def test_a_finished_run_that_may_only_be_read_is_complete(self):
        self.accepted(self.train("--out", self.work / "r"))
        denied = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_UNDER": str(self.work / "r/.lock"), "EIGNN_FAULT_AT": "1", "EIGNN_FAULT_ERRNO": "13",
                  "EIGNN_FAULT_STICKY": "1"}
        self.refused(["train", "--resume", self.work / "r"], "this run is complete", environment=denied)

    def test_a_signal_that_comes_twice_at_once_saves(self):
        for name, words in (("TERM", ["timeout", "-s", "TERM"]), ("INT", ["timeout", "-s", "INT"])):
            folder = self.work / name
            command = [*words, "3", EIGNN, *map(str, self.train("--out", folder, epochs=1000000))]
            result = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=60)
            self.assertEqual(result.returncode, 124, result.stderr)
            self.assertIn("--resume", result.stderr)
            self.assertTrue((folder / "resume.safetensors").exists())
        process = self.start(self.train("--out", self.work / "both", epochs=1000000))
        self.assertTrue(wait_for(lambda: (self.work / "both/metrics.jsonl").exists()))
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        self.assertIn("--resume", process.communicate(timeout=60)[1])

    def test_the_command_that_goes_on_can_be_pasted(self):
        folder = "it's a run; $(touch oops) #1"
        errors = self.interrupted(folder=folder)
        command = errors.rsplit("go on with: eignn ", 1)[1]
        result = subprocess.run(["bash", "-c", f"'{EIGNN}' {command}"], capture_output=True, text=True, env=self.environment, timeout=120)
        self.assertEqual(result.returncode, 0, f"{command}: {result.stderr}")
        self.assertTrue((self.work / folder / "summary.json").exists())

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
        # A number that lives here may be that of a dead process elsewhere: process 1 always lives.
        for name in (self.work / f"r/model.safetensors.tmp-{dead.pid}-0", self.work / f"p.csv.tmp-{dead.pid}-3",
                     self.work / "r/config.toml.tmp-1-0"):
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

    def test_a_disk_without_room_for_all_runs_is_seen_before_the_first(self):
        # Room for one run, but not for the four.
        short = {"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "100000"}
        self.accepted(self.train("--split", 0, "--out", self.work / "one"), environment=short)
        for name, more in (("one by one", []), ("jobs", ["--jobs", 2]), ("batch", ["--batch-runs", 4])):
            folder = self.work / name
            words = self.train("--split", "all", *more, "--out", folder)
            self.refused(words, "the 4 runs will write", "MB", "free some space", environment=short)
            self.assertEqual(list(folder.rglob("metrics.jsonl")), [])
            self.accepted(words)
            shutil.rmtree(folder / "split-2")
            self.accepted(words, environment=short)  # one run is left

    def test_a_disk_without_room_for_a_search_is_seen_before_its_first_run(self):
        grid = self.work / "grid.toml"
        grid.write_text("lr = [0.01, 0.05]\n")
        for name, more in (("jobs", ["--jobs", 2]), ("batch", ["--batch-runs", 4])):
            folder = self.work / name
            words = self.train("--search", grid, *more, "--out", folder)
            self.refused(words, "the 8 runs will write", "free some space", environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "100000"})
            self.assertEqual(list(folder.rglob("metrics.jsonl")), [])
            # Models are not kept: those of the runs under way alone need room.
            self.accepted(words, environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "240000"})
        grid.write_text("lr = [0.01, 0.05]\nsplits = [0]\nfinalists = 2\n")
        self.refused(self.train("--search", grid, "--out", self.work / "final"), "the 8 runs will write",
                     environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "100000"})

    def test_a_disk_without_room_for_an_output_is_seen_before_the_work(self):
        self.accepted(self.train("--out", self.work / "r"))
        features, weight = self.work / "x.npy", self.work / "f.npy"
        np.save(features, np.ones((120, 6), np.float32))
        np.save(weight, np.eye(6, dtype=np.float32))
        edges = self.work / "edges.txt"
        edges.write_text("".join(f"{v} {v + 1}\n" for v in range(119)))
        out = self.work / "out"
        out.mkdir()
        checkpoint = ["--checkpoint", self.work / "r"]
        solve = ["solve", "--graph", edges, "--features", features, "--weight", weight, "--out"]
        for space, words in ((1000, ["predict", *checkpoint, "--out", out / "p.csv"]),
                             (1000, ["predict", *checkpoint, "--top", 1, "--out", out / "p.csv"]),
                             (1000, ["predict", *checkpoint, "--out", out / "p.npy"]),
                             (1000, ["attack", *checkpoint, "--method", "fgsm", "--epsilon", 0.1, "--out", out / "a.csv"]),
                             (1000, ["explain", *checkpoint, "--node", 3, "--out", out / "e.csv"]),
                             (1000, ["explain", *checkpoint, "--node", 3, "--out", out / "e.dot"]),
                             (1000, ["explain", *checkpoint, "--node", 3, "--edges", "--out", out / "e.csv"]),
                             (1000, ["explain", *checkpoint, "--influence", "--out", out / "i.csv"]),
                             (1000, [*solve, out / "z.npy"]),
                             (3500, [*solve, out / "z.npy", "--exponents", out / "x.npy"]),
                             (50, ["convert", "--dataset", self.data, "--out", out / "c.npz"]),
                             (1000, ["convert", "--dataset", self.data, "--out", out / "c"]),
                             (1000, ["fetch", "cornell", "--to", out, "--mirror", "http://127.0.0.1:9"])):
            line = self.refused(words, "will write about", "free some space", environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": str(space)})
            self.assertIn(str(out), line)
            self.assertEqual([path for path in out.rglob("*") if path.is_file()], [], words)
            if words[0] != "fetch":
                self.accepted(words)
                for path in [path for path in out.rglob("*") if path.is_file()]:
                    path.unlink()
                shutil.rmtree(out / "c", ignore_errors=True)
        # A device is no disk.
        self.accepted([*solve, "/dev/null"], environment={"LD_PRELOAD": FAULTS, "EIGNN_FAULT_SPACE": "0"})

    def test_names_of_folders_that_a_page_cannot_hold(self):
        raw = os.fsencode(self.work) + b"/\xff\xfe"
        for flag in (b"--out", b"--runs"):
            self.refused([b"reproduce", b"chains-binary", b"--quick", flag, raw], "UTF-8", flag.decode(), code=2, timeout=20)
        self.assertFalse(os.path.exists(raw))


class Small(Case):
    def test_empty_values(self):
        commands = {"train": ["--resume", "--config", "--out", "--search", "--dataset", "--recipe", "--seed", "--jobs", "--split"],
                    "predict": ["--checkpoint", "--out", "--dataset"], "evaluate": ["--checkpoint"], "attack": ["--checkpoint", "--out"],
                    "convert": ["--dataset", "--graph", "--out"], "inspect": ["--checkpoint", "--graph"],
                    "solve": ["--graph", "--features", "--weight", "--out"], "reproduce": ["--out", "--runs"]}
        for command, flags in commands.items():
            for flag in flags:
                for words in ([flag, ""], [f"{flag}="]):
                    self.refused([command, *words], flag, code=2)

    def test_numbers(self):
        summary = json.loads(self.accepted(self.train("--json", "--seed", "007")).stdout)
        self.assertEqual(summary["seed"], 7)
        summary = json.loads(self.accepted(["train", "--dataset", self.data, "--epochs", "010", "--json"]).stdout)
        self.assertEqual(summary["epochs"], 10)
        self.refused(["train", "--seed", "18446744073709551616"], "--seed", "out of range", code=2)
        self.refused(["train", "--threads", "4000"], "--threads", "out of range", code=2)
        folder = self.work / "r"
        for text in ("010x", "0x10", "1e3", "ten", " 3", "3 ", "1.5", "--5"):
            for flag in ("--jobs", "--batch-runs"):
                self.refused(["train", "--split", "all", "--out", folder, f"{flag}={text}"], flag, "whole number", code=2)
        for text in ("18446744073709551617", "9223372036854775808", "-9223372036854775809"):
            self.refused(["train", "--split", "all", "--out", folder, f"--jobs={text}"], "out of range", "--jobs", code=2)
        self.refused(["train", "--split", "all", "--out", folder, "--jobs", "02000"], "2000 is out of range", code=2)
        self.refused(["train", "--split", "all", "--out", folder, "--batch-runs", "02000"], "--batch-runs", code=2)
        self.assertFalse(folder.exists())
        for flag, text in (("--jobs", "02"), ("--batch-runs", "08"), ("--jobs", "+2")):
            self.accepted(self.train("--split", "all", "--out", self.work / f"r{flag}{text}", flag, text, epochs=3))
        for words in (["attack", "--checkpoint", "x", "--method", "pgd", "--epsilon", "1"], ["bench", "chains"]):
            for flag in ("--steps", "--noise-seed") if words[0] == "attack" else ("--blocks", "--check-epochs", "--published-epochs", "--batch-runs"):
                self.refused([*words, f"{flag}=18446744073709551617"], flag, "out of range", code=2)
        for words in (["predict", "--top"], ["explain", "--node", 3, "--top"], ["explain", "--influence", "--sample"]):
            command = [*words[:-1], "--checkpoint", self.work / "r--jobs02/split-0"]
            for text in ("010x", "0x10", "1e3", "1.5", "18446744073709551617", "-9223372036854775809"):
                self.refused([*command, f"{words[-1]}={text}"], words[-1], "out of range" if len(text) > 10 else "whole number", code=2)
        explain = ["explain", "--checkpoint", self.work / "r--jobs02/split-0", "--json"]
        self.assertEqual(len(json.loads(self.accepted([*explain, "--node", 3, "--top", "010"]).stdout)["nodes"]), 10)
        self.assertEqual(json.loads(self.accepted([*explain, "--influence", "--sample", "010"]).stdout)["runs"][0]["sample"], 10)
        top = ["predict", "--checkpoint", self.work / "r--jobs02/split-0", "--out", self.work / "top.csv", "--top"]
        self.accepted([*top, "9223372036854775807"])
        self.refused([*top, "-1"], "--top", "out of range", code=2)
        self.refused(["bench", "scaling", "--up-to", "0400x"], "--up-to", code=2)
        self.refused(["bench", "scaling", "--up-to", "0999"], "999 is out of range", code=2)
        self.refused(["reproduce", "chains-binary", "--seeds", "18446744073709551617"], "--seeds", "out of range", code=2)

    def test_a_repeated_flag(self):
        self.refused(["train", "--epochs", "3", "--epochs", "4"], "--epochs", "twice", code=2)

    def test_endless_input_ends_at_a_limit(self):
        matrix = self.work / "x.npy"
        np.save(matrix, np.eye(3))
        for words in (["train", "--config", "/dev/zero"], ["train", "--dataset", self.data, "--search", "/dev/zero"],
                      ["solve", "--graph", "/dev/zero", "--features", matrix, "--weight", matrix, "--out", self.work / "z.npy"]):
            self.refused(words, "/dev/zero", timeout=120)

    def test_an_endless_pipe_ends_at_a_stated_limit(self):
        matrix = self.work / "x.npy"
        np.save(matrix, np.eye(3))
        for text, words, limit in (("y", ["train", "--config", "/dev/stdin"], "64 MB"),
                                   ("y", ["train", "--dataset", self.data, "--search", "/dev/stdin"], "64 MB"),
                                   ("0 1", ["solve", "--graph", "/dev/stdin", "--features", matrix, "--weight", matrix, "--out",
                                            self.work / "z.npy"], "2048 MB")):
            with subprocess.Popen(["yes", text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
                self.refused(words, limit, "/dev/stdin", stdin=endless.stdout, timeout=120)
                endless.kill()

    def bomb(self, gigabytes):
        """An archive whose features really unpack to so much, from a thousandth of it."""
        import zipfile
        path = self.work / "bomb.npz"
        rows = gigabytes * 1_000_000
        header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 125), }" % rows).encode()
        header += b" " * (117 - len(header)) + b"\n"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("node_features.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
                zeros = bytes(10_000_000)
                for _ in range(100 * gigabytes):
                    member.write(zeros)
            for name, array in (("edges", np.zeros((1, 2), np.int64)), ("node_labels", np.arange(rows) % 2)):
                with archive.open(name + ".npy", "w") as member:
                    np.lib.format.write_array(member, array)
        return path

    def test_an_archive_that_unpacks_beyond_memory(self):
        """Against what there is now, or may be taken: a limit of the address space is one."""
        path = self.bomb(3)
        self.assertLess(path.stat().st_size, 40_000_000)
        result = subprocess.run(["prlimit", f"--as={5 << 30}", EIGNN, "train", "--dataset", str(path), "--epochs", "1"], capture_output=True,
                                text=True, env=self.environment, timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("it holds 3.0 GB", result.stderr)
        self.assertIn("bomb.npz[node_features]", result.stderr)
        self.assertIn("of memory may be taken", result.stderr)

    def test_a_search_file_that_is_cut(self):
        grid = self.work / "grid.toml"
        for text in ("lr = [0.01, 0.05", "lr = [0.01,\n", "lr = [0.01,\ngamma = [0.8, 1.0]\n", "lr = [0.01, 0.05]\ngamma = [", "lr = [",
                     "lr = ", "lr", "lr = [0.01, 0.05]\ngam", 'head = ["plain", "l', "lr = [0.01 0.05]\n", "lr = [0.01, 0.05]]\n"):
            grid.write_text(text)
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
