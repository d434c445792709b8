#!/usr/bin/python3
"""Disturbs eignn while it works and holds what survives against the undisturbed result.

    chaos.py EIGNN FAULTS.so [--minutes N] [--seed S] [--json FILE]

Kills at random moments (single runs, splits, searches, their children, convert, predict, the cache), signals, errors
of every write, flush, close, fsync and rename, bit flips in every file that the program reads back, hostile arguments. After each
disturbance the program is taken up as its message says, or as the documentation does, and its files are compared byte by byte with
those of an undisturbed run; times and memory apart. docs/reliability.md says what is promised.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

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
    return path.read_bytes()


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def is_temporary(name):
    return ".tmp-" in name or name.endswith(".lock") or name.endswith("resume.safetensors")


class Chaos:
    def __init__(self, eignn, faults, seed):
        self.eignn, self.faults = str(pathlib.Path(eignn).resolve()), str(pathlib.Path(faults).resolve())
        self.random = random.Random(seed)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="eignn-chaos-"))
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
        n, m = 60, 6
        labels = np.arange(n) % 3
        masks = rng.random((4, n))
        np.savez(self.work / "set.npz",
                 edges=np.stack([rng.integers(0, n, 150), rng.integers(0, n, 150)], 1),
                 node_features=(rng.normal(size=(n, m)) + labels[:, None]).astype(np.float32), node_labels=labels,
                 train_masks=masks < 0.5, val_masks=(masks >= 0.5) & (masks < 0.75), test_masks=masks >= 0.75)
        (self.work / "grid.toml").write_text("lr = [0.01, 0.05]\ngamma = [0.8, 1.0]\nsplits = [0, 1]\n")

    def train(self, *arguments, epochs=120):
        return ["train", "--dataset", str(self.work / "set.npz"), "--epochs", str(epochs), "--patience", str(epochs), "--threads", "1",
                *arguments]

    def run(self, arguments, **environment):
        try:
            return subprocess.run([self.eignn, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120,
                                  env={**self.environment, **environment})
        except subprocess.TimeoutExpired as late:
            self.found("crashes", f"no end after 120 s: {arguments}")
            return subprocess.CompletedProcess(late.cmd, 0, "", "")

    def start(self, arguments):
        return subprocess.Popen([self.eignn, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                errors="replace", env=self.environment)

    # ---- what is counted

    def found(self, kind, what):
        self.counts[self.experiment][kind] += 1
        if kind != "tries":
            self.findings.append(f"{self.experiment}: {kind}: {what}")

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

    def orphans(self):
        """Processes of ours that still run; they are ended."""
        count = 0
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if TOKEN.encode() in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                    if (process / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                        os.kill(int(process.name), signal.SIGKILL)
                        count += 1
            except (OSError, IndexError):
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

    def take_up(self, arguments, folder, what, tries=6):
        """The same command, or --resume where that is what the message says."""
        resume = ["train", "--resume", folder]
        command = arguments
        for _ in range(tries):
            result = self.run(command)
            self.check_answer(result, what)
            if result.returncode == 0:
                return True
            if "complete" in result.stderr or "holds a run already" in result.stderr:
                return True
            if "resume it" in result.stderr or "--resume" in result.stderr:
                command = resume
            elif "the command of this folder again" in result.stderr or "same command" in result.stderr:
                command = arguments
            else:
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

    WORKS = {"a run": [], "splits": ["--split", "all", "--jobs", "2"], "a search": ["--search", "GRID", "--jobs", "2"]}

    def work_of(self, name):
        return self.train(*(str(self.work / "grid.toml") if word == "GRID" else word for word in self.WORKS[name]))

    def kills(self, name, victim):
        """Ends the work, or one of its children, at a random moment; then goes on with it."""
        self.begin(f"{victim}: {name}")
        arguments = self.work_of(name)
        if name not in self.plain:
            self.plain[name] = self.undisturbed(name.replace(" ", "-"), arguments)
        expected, seconds = self.plain[name]
        folder = self.work / "disturbed"
        shutil.rmtree(folder, ignore_errors=True)
        self.found("tries", "")
        command = [*arguments, "--out", folder]
        process = self.start(command)
        time.sleep(self.random.uniform(0.0, 1.1 * seconds))
        if victim == "kill -9 of a child":
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            found = []
            for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children") if children.exists() else []:
                try:
                    found += task.read_text().split()
                except OSError:
                    continue
            if found:
                try:
                    os.kill(int(self.random.choice(found)), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            errors = process.communicate(timeout=120)[1]
            if process.returncode not in (0, 1):
                self.found("crashes", f"exit {process.returncode} after a child was killed: {errors[-300:]}")
        else:
            process.send_signal({"kill -9": signal.SIGKILL, "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM,
                                 "SIGHUP": signal.SIGHUP}[victim])
            errors = process.communicate(timeout=120)[1]
            # Before the handlers stand a signal ends the program as it ends any other.
            if victim != "kill -9" and process.returncode not in (0, 130, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP):
                self.found("crashes", f"exit {process.returncode} after {victim}: {errors[-300:]}")
        if victim == "kill -9":
            time.sleep(0.3)
        count = self.orphans()
        if count:
            self.found("orphans", f"{count} after {victim}")
        if folder.exists():
            self.check_files(folder, victim)
        if self.take_up(command, folder, victim):
            self.compare(folder, expected, victim)

    def faults_of(self, name):
        """An error at a random operation on a file, once or from then on; then goes on with the work."""
        self.begin(f"errors of the disk: {name}")
        arguments = self.work_of(name)
        if name not in self.plain:
            self.plain[name] = self.undisturbed(name.replace(" ", "-"), arguments)
        folder = self.work / "disturbed"
        command = [*arguments, "--out", folder]
        under = {"LD_PRELOAD": self.faults, "EIGNN_FAULT_UNDER": str(self.work / "disturbed")}
        if name not in self.operations:
            shutil.rmtree(folder, ignore_errors=True)
            counted = self.work / "operations"
            counted.unlink(missing_ok=True)
            self.run(command, **under, EIGNN_FAULT_COUNT=str(counted))
            self.operations[name] = max(map(int, counted.read_text().split()))
        self.found("tries", "")
        shutil.rmtree(folder, ignore_errors=True)
        at = self.random.randint(1, self.operations[name])
        error = self.random.choice([5, 28])
        sticky = self.random.choice(["0", "1"])
        what = f"errno {error} from operation {at} on{'' if sticky == '1' else ', once'}"
        result = self.run(command, **under, EIGNN_FAULT_AT=str(at), EIGNN_FAULT_ERRNO=str(error), EIGNN_FAULT_STICKY=sticky)
        self.check_answer(result, what)
        if self.orphans():
            self.found("orphans", what)
        if folder.exists():
            self.check_files(folder, what)
        if result.returncode == 0 or self.take_up(command, folder, what):
            self.compare(folder, self.plain[name][0], what)

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
            process.communicate()
            if (self.interrupted_folder / "resume.safetensors").exists():
                break
        else:
            raise SystemExit("chaos: no run could be interrupted")
        self.splits_folder = self.work / "read-splits"
        self.run(self.train("--split", "all", "--out", self.splits_folder))
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
        """Kills of convert and predict: their output is there whole, or not at all."""
        self.begin(f"kill -9: {name}")
        self.prepare_read_back()
        self.found("tries", "")
        out = self.work / ("converted.npz" if name == "convert" else "killed.csv")
        command = (["convert", "--dataset", self.work / "set.npz", "--out", out] if name == "convert"
                   else ["predict", "--checkpoint", self.run_folder, "--out", out])
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
        result = self.run(command)
        self.check_answer(result, name)
        if result.returncode != 0:
            self.found("dead ends", result.stderr[-200:])
        elif self.arrays(out) != self.plain[name]:
            self.found("differing results", name)
        left = [path.name for path in self.work.iterdir() if ".tmp-" in path.name]
        if left:
            self.found("half-written files", f"left over: {left}")

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

    WORDS = ["", " ", "0", "-1", "1e999", "nan", "010", "99999999999999999999", "../..", "/dev/null", "/dev/full", "texas\n", "é#\"'\\",
             "\udcff\udcfe", "a" * 5000, "--", "-", "=", "%s%n", "$(reboot)", "*", "chains", "karate", "all", "auto"]

    def hostile(self):
        """Arguments that nobody means: an answer in one line, no crash, no file outside the folder."""
        self.begin("hostile arguments")
        self.found("tries", "")
        commands = {"train": ["--dataset", "--epochs", "--lr", "--out", "--resume", "--config", "--search", "--seed", "--threads", "--split",
                              "--solver", "--gamma", "--jobs", "--recipe", "--hidden"],
                    "predict": ["--checkpoint", "--out", "--dataset"], "evaluate": ["--checkpoint", "--split", "--threads"],
                    "attack": ["--checkpoint", "--method", "--epsilon", "--steps"], "convert": ["--dataset", "--out", "--graph"],
                    "inspect": ["--dataset", "--graph", "--checkpoint"], "solve": ["--graph", "--features", "--weight", "--out"],
                    "reproduce": ["--models", "--lengths", "--seeds", "--runs"], "bench": [], "completion": [], "fetch": ["--to"]}
        command = self.random.choice(list(commands))
        arguments = [command]
        for _ in range(self.random.randint(0, 4)):
            if commands[command] and self.random.random() < 0.7:
                arguments.append(self.random.choice(commands[command]))
            arguments.append(self.random.choice(self.WORDS))
        if command == "train" and "--epochs" not in arguments:
            arguments += ["--epochs", "2"]
        if command in ("reproduce", "bench", "fetch"):
            arguments.append("--no-such-flag")  # they would work for hours, or ask the network
        folder = self.work / "hostile"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        result = subprocess.run([self.eignn, *[word.encode("utf-8", "surrogateescape") for word in arguments]], capture_output=True,
                                cwd=folder, env=self.environment, timeout=120)
        answer = subprocess.CompletedProcess(arguments, result.returncode, "", result.stderr.decode("utf-8", "replace"))
        self.check_answer(answer, repr(arguments))

    def once(self):
        experiments = [lambda: self.kills(self.random.choice(list(self.WORKS)), self.random.choice(["kill -9"] * 3 + ["SIGINT", "SIGTERM", "SIGHUP"])),
                       lambda: self.kills(self.random.choice(["splits", "a search"]), "kill -9 of a child"),
                       lambda: self.faults_of(self.random.choice(list(self.WORKS))),
                       lambda: self.flips(self.random.choice(["model.safetensors", "resume.safetensors", "metrics.jsonl", "summary.json",
                                                              "config.toml", "cache"])),
                       lambda: self.other_works(self.random.choice(["convert", "predict"])),
                       self.hostile]
        self.random.choice(experiments)()

    plain, operations = {}, {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eignn")
    parser.add_argument("faults")
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="where to write the counts")
    arguments = parser.parse_args()
    chaos = Chaos(arguments.eignn, arguments.faults, arguments.seed)
    deadline = time.time() + 60 * arguments.minutes
    try:
        while time.time() < deadline:
            chaos.once()
    finally:
        chaos.orphans()
        shutil.rmtree(chaos.work, ignore_errors=True)
    total = {kind: sum(count[kind] for count in chaos.counts.values()) for kind in KINDS}
    print(f"| disturbance | {' | '.join(KINDS)} |\n| --- |{' --- |' * len(KINDS)}")
    for name, count in [*sorted(chaos.counts.items()), ("**all**", total)]:
        print(f"| {name} | {' | '.join(str(count[kind]) for kind in KINDS)} |")
    for finding in chaos.findings:
        print(finding, file=sys.stderr)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"minutes": arguments.minutes, "seed": arguments.seed, "counts": chaos.counts,
                                                            "total": total, "findings": chaos.findings}, indent=1) + "\n")
    failed = sum(total[kind] for kind in KINDS if kind != "tries")
    print(f"{total['tries'] - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
