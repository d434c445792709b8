#!/usr/bin/python3
"""Kills processes of a job at random moments, goes on as the message says, and compares with an undisturbed run.

    kills.py EIGNN [--kills 10] [--processes 3] [--seed S] [--json FILE]

Each time the job must end within ten seconds with at most one line of eignn's own, exactly one once it has begun to keep the run;
every file with a final name must be whole; and the run that goes on, on as many processes, must have the very epochs and
predictions of the undisturbed one. Ends with 77, which ctest counts as skipped, where there is no mpirun or no plugin.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import cluster_test as cluster

SETTINGS = ["train", "--dataset", "chains", "--chain-length", "100", "--solver", "sparse", "--head", "l2", "--dtype", "float64",
            "--dropout", "0.5", "--threads", "1", "--epochs", "400", "--patience", "400"]
MOST_SECONDS = 10


def untimed(folder):
    """The epochs without what the clock decides, and the bytes of the predictions."""
    rows = [{key: value for key, value in row.items() if "seconds" not in key} for row in cluster.epochs(folder)]
    return rows, (folder / "predictions.csv").read_bytes()


def require_whole(folder):
    """Every file that has its final name can be read to its end."""
    for path in folder.glob("*"):
        if ".tmp-" in path.name or not path.is_file():
            continue
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".csv" and not path.read_text().endswith("\n"):
            raise AssertionError(f"{path} is cut off")
        if path.suffix == ".safetensors":
            data = path.read_bytes()
            header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
            if len(data) != 8 + int.from_bytes(data[:8], "little") + max(ends, default=0):
                raise AssertionError(f"{path} is cut off")


def kill_once(folder, arguments, rank, moment, processes):
    """Starts the job and kills a rank of it. None where it had ended before; else what was seen."""
    process = cluster.launch(processes, *arguments)
    time.sleep(moment)
    victims = cluster.processes_of(folder)
    begun = (folder / "config.toml").exists()
    if process.poll() is not None or len(victims) <= rank:
        out, errors = process.communicate(timeout=120)
        if process.returncode != 0:
            raise AssertionError(f"the job failed by itself: {errors}")
        return None
    killed = time.monotonic()
    try:
        os.kill(victims[rank], signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, errors = process.communicate(timeout=120)
    seconds = time.monotonic() - killed
    lines = cluster.ours(errors)
    if process.returncode == 0:
        return None  # the run was over
    if seconds > MOST_SECONDS:
        raise AssertionError(f"the job ended after {seconds:.1f} s")
    if len(lines) > 1 or (begun and len(lines) != 1):
        raise AssertionError(f"{len(lines)} lines of eignn: {errors}")
    require_whole(folder)
    if cluster.processes_of(folder):
        raise AssertionError("a process is left")
    return {"moment_s": round(moment, 2), "rank": rank, "seconds": round(seconds, 2), "lines": len(lines), "begun": begun,
            "epochs": len(cluster.epochs(folder)) if (folder / "metrics.jsonl").exists() else 0}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eignn")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--json")
    asked = parser.parse_args()
    if not cluster.can_launch():
        return 77
    print(f"seed {asked.seed}", flush=True)
    chance = random.Random(asked.seed)
    home = pathlib.Path(tempfile.mkdtemp(prefix="eignn-kills-"))
    try:
        whole = home / "undisturbed"
        begin = time.monotonic()
        code, _, errors = cluster.run(asked.processes, *SETTINGS, "--out", str(whole))
        duration = time.monotonic() - begin
        if code != 0:
            raise AssertionError(errors)
        expected = untimed(whole)
        kills = []
        while len(kills) < asked.kills:
            folder = home / f"killed-{len(kills)}"
            arguments = [*SETTINGS, "--out", str(folder)]
            seen = kill_once(folder, arguments, chance.randrange(asked.processes), chance.uniform(0.2, duration), asked.processes)
            if seen is None:  # it came after the end
                shutil.rmtree(folder, ignore_errors=True)
                duration *= 0.9
                continue
            resumed = (folder / "resume.safetensors").exists()
            if resumed:
                arguments = ["train", "--resume", str(folder)]
            code, _, errors = cluster.run(asked.processes, *arguments)
            if code != 0:
                raise AssertionError(f"it does not go on: {errors}")
            if untimed(folder) != expected:
                raise AssertionError("the run that went on differs from the undisturbed one")
            if list(folder.glob("*.tmp-*")):
                raise AssertionError("a temporary is left")
            kills.append({**seen, "resumed": resumed})
            print(kills[-1], flush=True)
        report = {"processes": asked.processes, "seed": asked.seed, "kills": kills,
                  "slowest_end_s": max(kill["seconds"] for kill in kills)}
        if asked.json:
            pathlib.Path(asked.json).write_text(json.dumps(report, indent=1) + "\n")
        print(f"{len(kills)} kills, the slowest end after {report['slowest_end_s']} s, all with the undisturbed result")
        return 0
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
