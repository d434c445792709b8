#!/usr/bin/python3
"""Disturbs eignn while it works and holds what survives against the undisturbed result.

    chaos.py EIGNN FAULTS.so [--minutes N] [--seed S] [--json FILE] [--patience SECONDS] [--only WORDS]

Kills at random moments (runs short and long, splits, searches, batches, their children, runs that go on to another end, reproduce,
convert, predict, explain, evaluate, the cache), signals, errors of every open, write, flush, close, fsync, rename and unlink, bit flips
in every file that the program reads, hostile arguments.
After each disturbance the program is taken up as its message says, or else by the same command, and its files are compared byte by
byte with those of an undisturbed run; times and memory apart. docs/reliability.md says what is promised.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import numpy as np

TIMED = {"seconds", "seconds_total", "seconds_per_epoch", "seconds_per_train_step", "preprocess_seconds", "peak_memory_bytes",
         "digest"}
TOKEN = f"EIGNN_CHAOS=token-{os.getpid()}"
KINDS = ("tries", "differing results", "dead ends", "orphans", "half-written files", "crashes")


def untimed(value):
    """Without what the clock decides."""
    if isinstance(value, dict):
        return {key: untimed(part) for key, part in value.items() if key not in TIMED}
    return [untimed(part) for part in value] if isinstance(value, list) else value


def content(path):
    """What must be the same after a disturbance; an exception where the file is not whole."""
    if path.suffix == ".json":
        return untimed(json.loads(path.read_text()))
    if path.suffix == ".jsonl":
        return [untimed(json.loads(line)) for line in path.read_text().splitlines()]
    if path.suffix == ".toml":
        tomllib.loads(path.read_text())
    if path.suffix == ".csv":
        lines = path.read_text().split("\n")
        if lines[-1] != "" or len({line.count(",") for line in lines[:-1]}) != 1:
            raise ValueError("a line is cut off")
    return path.read_bytes()


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def is_temporary(name):
    return ".tmp-" in name or name.endswith(".lock") or name.endswith("resume.safetensors")


class Chaos:
    def __init__(self, eignn, faults, seed, patience=180):
        self.eignn, self.faults = str(pathlib.Path(eignn).resolve()), str(pathlib.Path(faults).resolve())
        self.random = random.Random(seed)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="eignn-chaos-"))
        self.patience = patience  # seconds; what takes longer hangs
        self.counts = {}  # of each experiment
        self.findings = []
        self.environment = dict(os.environ, EIGNN_CACHE=str(self.work / "cache"), OMP_NUM_THREADS="1")
        self.environment.pop("EIGNN_DATA", None)
        key, value = TOKEN.split("=")
        self.environment[key] = value
        self.make_data()

    # ---- what is run

    def make_data(self):
        """A small graph with four splits, and a grid."""
        rng = np.random.default_rng(1)
        n, m = 120, 6
        labels = np.arange(n) % 3
        masks = rng.random((4, n))
        np.savez(self.work / "set.npz",
                 edges=np.stack([rng.integers(0, n, 300), rng.integers(0, n, 300)], 1),
                 node_features=(rng.normal(size=(n, m)) + labels[:, None]).astype(np.float32), node_labels=labels,
                 train_masks=masks < 0.5, val_masks=(masks >= 0.5) & (masks < 0.75), test_masks=masks >= 0.75)
        # The third point does not converge: that is a result too.
        (self.work / "grid.toml").write_text("lr = [0.01, 0.05, 1e200]\ngamma = [0.7, 0.8]\nsplits = [0, 1]\n")
        # The same graph as files of one's own, as text and as arrays.
        with np.load(self.work / "set.npz") as arrays:
            edges, features = arrays["edges"], arrays["node_features"]
        np.savetxt(self.work / "edges.csv", edges, fmt="%d", delimiter=",")
        np.savetxt(self.work / "features.csv", features, fmt="%.6g", delimiter=",")
        np.save(self.work / "features.npy", features)
        np.savetxt(self.work / "labels.csv", labels, fmt="%d")
        np.save(self.work / "weight.npy", np.eye(m, dtype=np.float32))
        # And as tables with names, gaps and a category.
        tables = self.work / "tables"
        tables.mkdir()
        rows = [f"n{v},{('red', 'green', 'blue')[labels[v]]},{features[v, 0]:.4g},{'' if v % 7 == 0 else v % 5},{('east', 'west')[v % 2]}"
                for v in range(n)]
        (tables / "nodes.csv").write_text("\n".join(["id,label,age,hours,side", *rows]) + "\n")
        (tables / "edges.csv").write_text("\n".join(["source,target,weight", *(f"n{a},n{b},{1 + a % 3}" for a, b in edges)]) + "\n")

    def train(self, *arguments, epochs=120):
        # The paper's model, which batches train too.
        paper = ["--head", "plain", "--encoder", "0", "--equilibria", "1", "--intercept", "off", "--dropout", "0", "--feature-norm", "none"]
        return ["train", "--dataset", str(self.work / "set.npz"), *paper, "--epochs", str(epochs), "--patience", str(epochs), "--threads", "1",
                *arguments]

    def run(self, arguments, cwd=None, **environment):
        words = [word if isinstance(word, bytes) else str(word) for word in arguments]
        try:
            return subprocess.run([self.eignn, *words], capture_output=True, text=True, errors="replace", timeout=self.patience,
                                  cwd=cwd, env={**self.environment, **environment})
        except subprocess.TimeoutExpired as late:
            self.found("crashes", f"no end after {self.patience} s: {arguments}")
            return subprocess.CompletedProcess(late.cmd, 1, "", "eignn: error: no end")

    def ended(self, process, what):
        """Waits for what was started; its standard error."""
        try:
            return process.communicate(timeout=self.patience)[1]
        except subprocess.TimeoutExpired:
            self.found("crashes", f"no end after {self.patience} s: {what}")
            process.kill()
            return process.communicate()[1]

    def start(self, arguments):
        return subprocess.Popen([self.eignn, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                errors="replace", env=self.environment)

    # ---- what is counted

    def found(self, kind, what):
        self.counts[self.experiment][kind] += 1
        if kind != "tries":
            self.findings.append(f"{self.experiment}: {kind}: {what}")
            print(self.findings[-1], file=sys.stderr, flush=True)

    def begin(self, experiment):
        self.experiment = experiment
        self.counts.setdefault(experiment, dict.fromkeys(KINDS, 0))

    def check_answer(self, result, what):
        """Ended by no signal, and with one line of error where it failed."""
        if result.returncode < 0 or result.returncode in (134, 136, 139):
            self.found("crashes", f"{what}: exit {result.returncode}: {result.stderr[-300:]}")
        elif result.returncode not in (0, 1, 2, 130):
            self.found("crashes", f"{what}: exit code {result.returncode}")
        elif result.returncode != 0 and len(re.findall(r"^eignn: (?:error|interrupted)", result.stderr, re.M)) != 1:
            self.found("crashes", f"{what}: no single line of error: {result.stderr[-300:]!r}")

    @staticmethod
    def is_dying(process):
        """Whether it was killed: on a machine with much to do the end of a process may take its time."""
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        kill = 1 << (signal.SIGKILL - 1)
        exiting = int((process / "stat").read_text().rsplit(")", 1)[1].split()[6]) & 0x4
        return status["State"].split()[0] in "ZX" or exiting or (int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)) & kill

    def orphans(self):
        """Processes of ours that still run; they are ended."""
        count = 0
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if TOKEN.encode() in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                    if not self.is_dying(process):
                        os.kill(int(process.name), signal.SIGKILL)
                        count += 1
            except (OSError, IndexError, KeyError):
                continue
        return count

    def check_files(self, folder, what):
        """Every file under its final name is whole, also while the work is not finished."""
        for name, path in files_of(folder).items():
            if is_temporary(name) or name.endswith("errors.txt") or name.endswith("metrics.jsonl"):
                continue
            try:
                if name.endswith(".safetensors"):
                    size = int.from_bytes(path.read_bytes()[:8], "little")
                    header = json.loads(path.read_bytes()[8:8 + size])
                    last = max(tensor["data_offsets"][1] for key, tensor in header.items() if key != "__metadata__")
                    assert path.stat().st_size == 8 + size + last
                else:
                    content(path)
            except (ValueError, AssertionError) as error:
                self.found("half-written files", f"{what}: {name}: {error}")

    def compare(self, folder, expected, what):
        """The same files with the same content, and nothing left over."""
        found = files_of(folder)
        left = [name for name in found if is_temporary(name)]
        if left:
            self.found("half-written files", f"{what}: left over: {left}")
        for name in sorted(set(found) | set(expected)):
            if is_temporary(name):
                continue
            if name not in found or name not in expected:
                return self.found("differing results", f"{what}: {name} is in one of the two alone")
            try:
                same = content(found[name]) == expected[name]
            except ValueError as error:
                same = False
                self.found("half-written files", f"{what}: {name}: {error}")
            if not same:
                self.found("differing results", f"{what}: {name}")

    # ---- how an interrupted piece of work is taken up

    @staticmethod
    def said(errors, command):
        """The command that a message names to go on with: None where it names none."""
        named = re.search(r"go on with: eignn (.*)$", errors, re.M)
        if named:
            return shlex.split(named.group(1))
        if "same command" in errors or "the command of this folder again" in errors:
            return command
        return None

    def take_up(self, arguments, folder, what, expected, tries=6):
        """The same command, and then what each message says, until there is a result."""
        command = arguments
        for _ in range(tries):
            result = self.run(command)
            self.check_answer(result, what)
            if result.returncode == 0 or "this run is complete" in result.stderr or "holds a run already" in result.stderr:
                missing = [name for name in expected if name.endswith("summary.json") and not (folder / name).exists()]
                if missing:
                    self.found("dead ends", f"{what}: said to be complete, without {missing}")
                return not missing
            if "resume it" in result.stderr:
                command = ["train", "--resume", folder]
                continue
            command = self.said(result.stderr, arguments)
            if command is None:
                break
        self.found("dead ends", f"{what}: {result.stderr.strip()[-300:]}")
        return False

    def undisturbed(self, name, arguments):
        folder = self.work / f"plain-{name}"
        started = time.time()
        result = self.run([*arguments, "--out", folder])
        if result.returncode != 0:
            raise SystemExit(f"chaos: the undisturbed {name} failed: {result.stderr}")
        seconds = time.time() - started
        return {key: content(path) for key, path in files_of(folder).items()}, seconds

    # ---- the experiments

    WORKS = {"a run": [], "a long run": [], "splits": ["--split", "all"], "splits, two at a time": ["--split", "all", "--jobs", "2"],
             "prediction sets": ["--conformal", "0.2"], "a search": ["--search", "GRID", "--jobs", "2"],
             "batches": ["--split", "all", "--batch-runs", "2"],
             "a search in batches": ["--search", "GRID", "--batch-runs", "3"], "a run that fills the cache": ["--solver", "spectral"]}

    def work_of(self, name):
        words = [str(self.work / "grid.toml") if word == "GRID" else word for word in self.WORKS[name]]
        # The long one saves its state on the way, after 5 s.
        return self.train(*words, epochs=self.long if name == "a long run" else 120)

    def empty_cache(self, name):
        if "cache" in name:
            shutil.rmtree(self.work / "cache", ignore_errors=True)

    def expected_of(self, name):
        """The files of the undisturbed work, and the seconds that it takes."""
        if name not in self.plain:
            self.empty_cache(name)
            self.plain[name] = self.undisturbed(name.replace(" ", "-"), self.work_of(name))
        return self.plain[name]

    def kill_a_child(self, process):
        found = []
        for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children"):
            try:
                found += task.read_text().split()
            except OSError:
                continue
        if found:
            try:
                os.kill(int(self.random.choice(found)), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kills(self, name, victim):
        """Ends the work, or one of its children, at a random moment, up to three times; then goes on with it."""
        self.begin(f"{victim}: {name}")
        expected, seconds = self.expected_of(name)
        folder = self.work / "disturbed"
        shutil.rmtree(folder, ignore_errors=True)
        self.empty_cache(name)
        self.found("tries", "")
        command = now = [*self.work_of(name), "--out", folder]
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            process = self.start(now)
            time.sleep(self.random.uniform(0.0, 1.1 * seconds))
            number = {"kill -9": signal.SIGKILL, "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}.get(victim)
            if number:
                process.send_signal(number)
            else:
                self.kill_a_child(process)
            errors = self.ended(process, victim)
            # Before the handlers stand a signal ends the program as it ends any other.
            fine = {None: (0, 1), signal.SIGKILL: (0, 1, -signal.SIGKILL)}.get(number, (0, 130, -(number or 0)))
            refused = process.returncode == 1 and re.search("resume it|holds a run already|is complete|begins anew", errors)
            if process.returncode not in fine and not refused:
                self.found("crashes", f"exit {process.returncode} after {victim}: {errors[-300:]}")
            if victim == "kill -9":
                time.sleep(0.3)
            count = self.orphans()
            if count:
                self.found("orphans", f"{count} after {victim}")
            if folder.exists():
                self.check_files(folder, victim)
            now = ["train", "--resume", folder] if (folder / "resume.safetensors").exists() else command
        if self.take_up(command, folder, victim, expected):
            self.compare(folder, expected, victim)

    def faulty(self, name, command, under, folder):
        """Runs a command of which one operation on a file fails, once or with all that follow. The result, and what failed."""
        environment = {"LD_PRELOAD": self.faults, "EIGNN_FAULT_UNDER": str(under)}
        if name not in self.operations:
            counted = self.work / "operations"
            counted.unlink(missing_ok=True)
            self.run(command, **environment, EIGNN_FAULT_COUNT=str(counted))
            self.operations[name] = max(map(int, counted.read_text().split()))
            shutil.rmtree(folder, ignore_errors=True)
            if "--checkpoint" in command or command[0] == "convert":
                folder.mkdir()
            self.empty_cache(name)
        self.found("tries", "")
        at = self.random.randint(1, self.operations[name])
        error = self.random.choice([5, 28])
        sticky = self.random.choice(["0", "1"])
        what = f"errno {error} from operation {at} on{'' if sticky == '1' else ', once'}"
        result = self.run(command, **environment, EIGNN_FAULT_AT=str(at), EIGNN_FAULT_ERRNO=str(error), EIGNN_FAULT_STICKY=sticky)
        self.check_answer(result, what)
        if self.orphans():
            self.found("orphans", what)
        return result, what

    def faults_of(self, name):
        """An error at a random operation on a file; then goes on with the work."""
        self.begin(f"errors of the disk: {name}")
        expected = self.expected_of(name)[0]
        folder = self.work / "disturbed"
        shutil.rmtree(folder, ignore_errors=True)
        self.empty_cache(name)
        command = [*self.work_of(name), "--out", folder]
        under = self.work / "cache" if "cache" in name else folder
        result, what = self.faulty(name, command, under, folder)
        if folder.exists():
            self.check_files(folder, what)
        if result.returncode not in (0, 2) and self.said(result.stderr, command) is None:
            self.found("dead ends", f"{what}: names no way on: {result.stderr.strip()[-300:]}")
        # Also after a success: a file that could not be removed is removed by whoever comes next.
        if self.take_up(command, folder, what, expected):
            self.compare(folder, expected, what)

    def faults_of_output(self, name):
        """The same for a command that writes one file."""
        self.begin(f"errors of the disk: {name}")
        self.prepare_read_back()
        folder = self.work / "outputs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        out, command = self.output_of(name, folder)
        if name not in self.plain:
            self.run(command)
            self.plain[name] = self.arrays(out)
            out.unlink()
        what = self.faulty(name, command, folder, folder)[1]
        if out.exists() and self.arrays(out) != self.plain[name]:
            self.found("half-written files", f"{name}: {what}")
        self.check_output(name, out, command, what)

    def output_of(self, name, folder):
        if name == "convert":
            out = folder / "converted.npz"
            return out, ["convert", "--dataset", self.work / "set.npz", "--out", out]
        if name == "explain":
            out = folder / "explained.csv"
            return out, ["explain", "--checkpoint", self.run_folder, "--node", "3", "--out", out]
        out = folder / "predicted.csv"
        return out, ["predict", "--checkpoint", self.run_folder, "--out", out]

    def check_output(self, name, out, command, what):
        """The command, undisturbed, gives what it gives, and nothing is left over."""
        result = self.run(command)
        self.check_answer(result, what)
        if result.returncode != 0:
            self.found("dead ends", f"{what}: {result.stderr[-200:]}")
        elif self.arrays(out) != self.plain[name]:
            self.found("differing results", f"{name}: {what}")
        left = [path.name for path in out.parent.iterdir() if path != out]
        if left:
            self.found("half-written files", f"{what}: left over: {left}")

    def prepare_read_back(self):
        """A finished run, an interrupted one, splits of which one is missing, a cache."""
        if hasattr(self, "run_folder"):
            return
        self.run_folder = self.work / "read-run"
        self.run(self.train("--out", self.run_folder))
        self.interrupted_folder = self.work / "read-interrupted"
        for _ in range(20):
            shutil.rmtree(self.interrupted_folder, ignore_errors=True)
            process = self.start(self.train("--out", self.interrupted_folder, epochs=4000))
            deadline = time.time() + 20
            metrics = self.interrupted_folder / "metrics.jsonl"
            while time.time() < deadline and not (metrics.exists() and metrics.stat().st_size > 2000):
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            self.ended(process, "the run to interrupt")
            if (self.interrupted_folder / "resume.safetensors").exists():
                break
        else:
            raise SystemExit("chaos: no run could be interrupted")
        self.tables_folder = self.work / "read-tables"
        self.run(["train", "--dataset", self.work / "tables", "--epochs", "30", "--threads", "1", "--out", self.tables_folder])
        self.splits_folder = self.work / "read-splits"
        self.run(self.train("--split", "all", "--out", self.splits_folder))
        self.search_folder = self.work / "read-search"
        self.run([*self.work_of("a search"), "--out", self.search_folder])
        self.cache_work = self.train("--solver", "spectral", epochs=3)

    def predictions(self, checkpoint):
        out = self.work / "predictions.csv"
        out.unlink(missing_ok=True)
        result = self.run(["predict", "--checkpoint", checkpoint, "--out", out])
        return result, out.read_bytes() if out.exists() else None

    def flip(self, path):
        """Inverts one bit; returns the function that puts the file back."""
        original = path.read_bytes()
        bit = self.random.randrange(8 * len(original))
        changed = bytearray(original)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        return f"bit {bit} of {path.name}", lambda: path.write_bytes(original)

    DATA = ("set.npz", "grid.toml", "edges.csv", "features.csv", "labels.csv", "features.npy", "weight.npy", "tables/nodes.csv",
            "tables/edges.csv")
    OF_A_SEARCH = ("search.toml", "summary.json of a trial", "failure.json", "best.toml", "trials.json")
    SETTINGS = ("config.toml as --config", "best.toml as --config")

    def flips(self, file):
        """One bit flipped in a file that the program reads back: refused, or without effect."""
        self.begin(f"a flipped bit: {file}")
        self.prepare_read_back()
        self.found("tries", "")
        if file == "model.safetensors":
            if "model" not in self.plain:
                self.plain["model"] = self.predictions(self.run_folder)[1]
            what, restore = self.flip(self.run_folder / file)
            result, found = self.predictions(self.run_folder)
            restore()
            self.check_answer(result, what)
            if result.returncode == 0 and found != self.plain["model"]:
                self.found("differing results", what)
        elif file in self.DATA:
            shutil.rmtree(self.work / "disturbed", ignore_errors=True)
            what, restore = self.flip(self.work / file)
            graph = ["--graph", self.work / "edges.csv"]
            tables = ["train", "--dataset", self.work / "tables", "--epochs", "3", "--threads", "1", "--out", self.work / "disturbed"]
            solve = ["solve", *graph, "--features", self.work / "features.npy", "--weight", self.work / "weight.npy", "--out", self.work / "z.npy"]
            result = self.run({"set.npz": self.train("--out", self.work / "disturbed", epochs=3),
                               "grid.toml": self.train("--search", self.work / "grid.toml", epochs=3),
                               "features.npy": solve, "weight.npy": solve, "tables/nodes.csv": tables, "tables/edges.csv": tables}.get(file, [
                                   "convert", *graph, "--features", self.work / "features.csv", "--labels", self.work / "labels.csv",
                                   "--out", self.work / "own.npz"]))
            restore()
            shutil.rmtree(self.work / "disturbed", ignore_errors=True)
            # Another number is another data set; but an answer there must be.
            self.check_answer(result, what)
        elif file in self.SETTINGS:
            # People change these on purpose: other settings are other settings, but where the file has a digest it is said.
            place = self.run_folder / "config.toml" if file.startswith("config") else self.search_folder / "best.toml"
            shutil.rmtree(self.work / "disturbed", ignore_errors=True)
            text = place.read_bytes()
            what, restore = self.flip(place)
            sealed, changed = b"# digest " in place.read_bytes(), place.read_bytes().rsplit(b"# digest ", 1)[0] != text.rsplit(b"# digest ", 1)[0]
            result = self.run(["train", "--config", place, "--out", self.work / "disturbed"] +
                              (["--epochs", "3", "--threads", "1"] if self.random.random() < 0.9 else []))
            restore()
            shutil.rmtree(self.work / "disturbed", ignore_errors=True)
            self.check_answer(result, what)
            if result.returncode == 0 and sealed and changed and "were changed after" not in result.stderr:
                self.found("differing results", f"{what}: not said: {result.stderr[-300:]}")
        elif file in self.OF_A_SEARCH:
            expected = {name: content(path) for name, path in files_of(self.search_folder).items()}
            copy = self.work / "disturbed"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.search_folder, copy)
            shutil.rmtree(copy / "trials/001")  # so that there is something to do
            place = self.random.choice(sorted(path for path in copy.rglob(file.split()[0])))
            (copy / "trials/000/split-0/job.toml").write_text("left = true\n")
            what, restore = self.flip(place)
            result = self.run([*self.work_of("a search"), "--out", copy])
            self.check_answer(result, what)
            if result.returncode == 0:
                if file not in ("best.toml", "trials.json"):  # these are written anew
                    restore()
                self.compare(copy, expected, what)
        elif file == "cache":
            if "cache" not in self.plain:
                self.plain["cache"] = self.undisturbed("cache", self.cache_work)[0]
            self.run(self.cache_work)
            cached = [path for path in files_of(self.work / "cache").values() if path.stat().st_size > 0]
            folder = self.work / "disturbed"
            shutil.rmtree(folder, ignore_errors=True)
            what, restore = self.flip(self.random.choice(cached)) if cached else ("no cache", lambda: None)
            result = self.run([*self.cache_work, "--out", folder])
            restore()
            self.check_answer(result, what)
            if result.returncode == 0:
                self.compare(folder, self.plain["cache"], what)
        else:
            source = self.splits_folder if file in ("summary.json", "config.toml") else self.interrupted_folder
            key = f"after {source.name}"
            copy = self.work / "disturbed"

            def finish():
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(source, copy)
                if source is self.splits_folder:  # one split is missing, so that there is something to do
                    shutil.rmtree(copy / "split-3")

            if key not in self.plain:
                finish()
                self.run(["train", "--resume", copy])
                self.plain[key] = {name: content(path) for name, path in files_of(copy).items()}
            finish()
            place = copy / ("split-1" if file == "summary.json" else "") / file
            what, restore = self.flip(place)
            result = self.run(["train", "--resume", copy])
            self.check_answer(result, what)
            if result.returncode == 0:
                restore()  # the changed file itself may stay as it is, where nothing depends on it
                self.compare(copy, self.plain[key], what) if file not in ("metrics.jsonl", "config.toml") else None
                if file in ("metrics.jsonl", "config.toml"):
                    self.compare(copy, {**self.plain[key], file: content(copy / file)}, what)

    def other_works(self, name):
        """Kills of convert, predict and explain: their output is there whole, or not at all."""
        self.begin(f"kill -9: {name}")
        self.prepare_read_back()
        self.found("tries", "")
        folder = self.work / "outputs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        out, command = self.output_of(name, folder)
        if name not in self.plain:
            self.run(command)
            self.plain[name] = self.arrays(out)
        out.unlink(missing_ok=True)
        process = self.start(command)
        time.sleep(self.random.uniform(0.0, 0.05 if name == "convert" else 0.8))
        process.kill()
        process.communicate()
        if out.exists() and self.arrays(out) != self.plain[name]:
            self.found("half-written files", name)
        self.check_output(name, out, command, "kill -9")

    def kill_at(self, command, seconds):
        """Kills the command somewhere within so many seconds; no process may be left."""
        process = self.start(command)
        time.sleep(self.random.uniform(0.0, seconds))
        process.kill()
        self.ended(process, "kill -9")
        time.sleep(0.3)
        count = self.orphans()
        if count:
            self.found("orphans", f"{count} after kill -9 of {command[0]}")

    def kills_of_evaluate(self):
        """It writes nothing: the run stays as it is, and so does what is said of it."""
        self.begin("kill -9: evaluate")
        self.prepare_read_back()
        self.found("tries", "")
        command = ["evaluate", "--checkpoint", self.run_folder, "--json"]
        if "evaluate" not in self.plain:
            self.plain["evaluate"] = untimed(json.loads(self.run(command).stdout))
        before = {name: path.read_bytes() for name, path in files_of(self.run_folder).items()}
        self.kill_at(command, 0.8)
        if {name: path.read_bytes() for name, path in files_of(self.run_folder).items()} != before:
            self.found("differing results", "evaluate changed the run")
        result = self.run(command)
        self.check_answer(result, "evaluate after a kill")
        if result.returncode != 0 or untimed(json.loads(result.stdout)) != self.plain["evaluate"]:
            self.found("differing results", f"evaluate after a kill: {result.stderr[-200:]}")

    def kills_of_more_epochs(self):
        """A run that goes on to another end, killed once or twice on its way there."""
        self.begin("kill -9: --resume --epochs")
        self.prepare_read_back()
        self.found("tries", "")
        copy = self.work / "disturbed"
        command = ["train", "--resume", copy, "--epochs", "6000"]

        def fresh():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.interrupted_folder, copy)

        if "more epochs" not in self.plain:
            fresh()
            started = time.time()
            result = self.run(command)
            if result.returncode != 0:
                raise SystemExit(f"chaos: the undisturbed --resume --epochs failed: {result.stderr}")
            self.plain["more epochs"] = {name: content(path) for name, path in files_of(copy).items()}, time.time() - started
        expected, seconds = self.plain["more epochs"]
        fresh()
        for _ in range(self.random.choice([1, 1, 2])):
            self.kill_at(command, 1.1 * seconds)
            self.check_files(copy, "kill -9")
        if self.take_up(command, copy, "kill -9", expected):
            self.compare(copy, expected, "kill -9")

    def kills_of_reproduce(self):
        """A small reproduction: its runs, and the pages that are made of them."""
        self.begin("kill -9: reproduce")
        self.found("tries", "")
        folder = self.work / "reproduced"
        command = ["reproduce", "finite-depth", "--models", "ignn", "--lengths", "10,12", "--seeds", "2", "--epochs", "40", "--quick", "--jobs", "2",
                   "--threads", "1", "--out", folder / "results", "--runs", folder / "runs"]

        def runs():
            return {name: content(path) for name, path in files_of(folder / "runs").items() if not is_temporary(name)}

        shutil.rmtree(folder, ignore_errors=True)
        if "reproduce" not in self.plain:
            started = time.time()
            result = self.run(command)
            if result.returncode != 0:
                raise SystemExit(f"chaos: the undisturbed reproduce failed: {result.stderr}")
            self.plain["reproduce"] = runs(), sorted(files_of(folder / "results")), time.time() - started
            shutil.rmtree(folder)
        expected, pages, seconds = self.plain["reproduce"]
        for _ in range(self.random.choice([1, 1, 2])):
            self.kill_at(command, 1.1 * seconds)
            if folder.exists():
                self.check_files(folder, "kill -9")
        result = self.run(command)
        self.check_answer(result, "reproduce after a kill")
        if result.returncode != 0:
            return self.found("dead ends", f"reproduce after a kill: {result.stderr[-300:]}")
        if runs() != expected:
            self.found("differing results", "reproduce after a kill: its runs")
        left = [name for name in files_of(folder) if is_temporary(name)]
        if left:
            self.found("half-written files", f"reproduce after a kill: left over: {left}")
        if sorted(files_of(folder / "results")) != pages:
            self.found("differing results", "reproduce after a kill: its pages")

    @staticmethod
    def arrays(path):
        """What an output says: an archive has the time of its writing in it."""
        if path.suffix != ".npz":
            return path.read_bytes()
        try:
            with np.load(path) as archive:
                return {name: archive[name].tobytes() for name in archive.files}
        except Exception:  # whatever is wrong with it
            return None

    WORDS = ["", " ", "0", "-1", "1e999", "nan", "010", "99999999999999999999", "../..", "../out", "/dev/null", "/dev/full", "texas\n", "é#\"'\\",
             "\udcff\udcfe", "a" * 5000, "--", "-", "=", "%s%n", "$(reboot)", "*", "chains", "karate", "all", "auto", "n3", "age=33,side=east",
             "age=", "=33", "side=north", "age=1,age=2", "n1,n2:2.5", "n1:", ":3", "n1:nan", ",", "label", "age", "accuracy", "macro_f1", "mse"]

    def hostile(self):
        """Arguments that nobody means: an answer in one line, no crash, no file outside the folder."""
        self.begin("hostile arguments")
        self.found("tries", "")
        commands = {"train": ["--dataset", "--epochs", "--lr", "--out", "--resume", "--config", "--search", "--seed", "--threads", "--split",
                              "--solver", "--gamma", "--jobs", "--recipe", "--hidden", "--drawn", "--label", "--metric", "--conformal", "--task"],
                    "predict": ["--checkpoint", "--out", "--dataset", "--node", "--neighbours", "--top"],
                    "evaluate": ["--checkpoint", "--split", "--threads", "--metric", "--drawn"],
                    "explain": ["--checkpoint", "--node", "--class", "--top", "--sample", "--influence", "--edges", "--out", "--beside"],
                    "attack": ["--checkpoint", "--method", "--epsilon", "--steps"], "convert": ["--dataset", "--out", "--graph"],
                    "inspect": ["--dataset", "--graph", "--checkpoint"], "solve": ["--graph", "--features", "--weight", "--out"],
                    "reproduce": ["--models", "--lengths", "--seeds", "--runs"], "bench": [], "completion": [], "fetch": ["--to"]}
        command = self.random.choice(list(commands))
        arguments = [command]
        # With something real to work on, so that the other flags come to their turn.
        if command in ("predict", "evaluate", "explain", "attack") and self.random.random() < 0.6:
            self.prepare_read_back()
            arguments += ["--checkpoint", str(self.random.choice([self.run_folder, self.tables_folder]))]
        if command == "train" and self.random.random() < 0.4:
            arguments += ["--dataset", str(self.work / "tables")]
        for _ in range(self.random.randint(0, 4)):
            if commands[command] and self.random.random() < 0.7:
                arguments.append(self.random.choice(commands[command]))
            arguments.append(self.random.choice(self.WORDS))
        arguments = [word for k, word in enumerate(arguments) if not (word.startswith("--") and len(word) > 2 and word in arguments[:k])]
        if command == "train" and "--epochs" not in arguments:
            arguments += ["--epochs", "2"]
        if command in ("reproduce", "bench", "fetch"):
            arguments.append("--no-such-flag")  # they would work for hours, or ask the network
        # Deep enough for ../.. to stay in it.
        folder = self.work / "hostile"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "deep/deeper/deepest").mkdir(parents=True)
        before = self.outside(folder)
        result = self.run([word.encode("utf-8", "surrogateescape") for word in arguments], cwd=folder / "deep/deeper/deepest")
        self.check_answer(result, repr(arguments))
        changed = sorted(set(self.outside(folder)) ^ set(before))
        if changed:
            self.found("crashes", f"{arguments!r}: changed outside its folder: {changed}")

    def outside(self, folder):
        """The files of ours that are not in this folder, with the time of their last change."""
        apart = (folder, self.work / "cache")
        return {(path.as_posix(), path.stat().st_mtime_ns) for path in self.work.rglob("*")
                if path.is_file() and not any(path.is_relative_to(one) for one in apart)}

    def once(self, only=""):
        works = [name for name in self.WORKS if name != "a long run"] * 2 + ["a long run"]
        with_children = ["splits, two at a time", "a search"]
        victims = ["kill -9"] * 3 + ["SIGINT", "SIGTERM", "SIGHUP"]
        files = ["model.safetensors", "resume.safetensors", "metrics.jsonl", "summary.json", "config.toml", "cache", *self.DATA,
                 *self.OF_A_SEARCH, *self.SETTINGS]
        choose = self.random.choice
        if only:
            name = choose([name for name in works if only in name])
            return choose([lambda: self.kills(name, choose(victims)), lambda: self.faults_of(name)])()
        experiments = [lambda: self.kills(choose(works), choose(victims)), lambda: self.kills(choose(works), choose(victims)),
                       lambda: self.kills(choose(with_children), "kill -9 of a child"),
                       lambda: self.faults_of(choose([name for name in works if name != "a long run"])),
                       lambda: self.faults_of_output(choose(["convert", "predict", "explain"])),
                       lambda: self.flips(choose(files)), lambda: self.flips(choose(files)),
                       lambda: self.other_works(choose(["convert", "predict", "explain"])),
                       choose([self.kills_of_evaluate, self.kills_of_more_epochs, self.kills_of_reproduce]),
                       self.hostile, self.hostile]
        choose(experiments)()

    long = 20000  # epochs of a run of some ten seconds
    plain, operations = {}, {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eignn")
    parser.add_argument("faults")
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="where to write the counts")
    parser.add_argument("--patience", type=float, default=180, help="seconds after which a command hangs; more on a machine that others use")
    parser.add_argument("--only", default="", help="kills and errors of the disk alone, of such works as batches or splits")
    arguments = parser.parse_args()
    chaos = Chaos(arguments.eignn, arguments.faults, arguments.seed, arguments.patience)
    deadline = time.time() + 60 * arguments.minutes
    try:
        while time.time() < deadline:
            try:
                chaos.once(arguments.only)
            except KeyboardInterrupt:
                break
            except SystemExit as stop:
                chaos.found("crashes", str(stop))
                break
    finally:
        chaos.orphans()
        shutil.rmtree(chaos.work, ignore_errors=True)
    total = {kind: sum(count[kind] for count in chaos.counts.values()) for kind in KINDS}
    print(f"| disturbance | {' | '.join(KINDS)} |\n| --- |{' --- |' * len(KINDS)}")
    for name, count in [*sorted(chaos.counts.items()), ("**all**", total)]:
        print(f"| {name} | {' | '.join(str(count[kind]) for kind in KINDS)} |")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"minutes": arguments.minutes, "seed": arguments.seed, "counts": chaos.counts,
                                                            "total": total, "findings": chaos.findings}, indent=1) + "\n")
    failed = sum(total[kind] for kind in KINDS if kind != "tries")
    print(f"{total['tries'] - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
