#!/usr/bin/python3
"""Measurements of several processes (docs/cluster.md); for a machine that does nothing else.

    cluster.py EIGNN memory [--out results/bench-cluster-memory.json]   a million nodes: peak memory of each process, times
    cluster.py EIGNN large  [--out results/bench-cluster-large.json]    ten million nodes, a hundred million edges, from shards
    cluster.py EIGNN model  [--out results/bench-cluster-model.json]    bench cluster on 1, 2 and 4 processes: expected and measured
    cluster.py EIGNN agree  [--out results/bench-cluster-agree.json]    how far losses and predictions differ from those of one process

--folder keeps the data (some GB) in another place than a temporary one, and takes them from there the next time; --processes 1,2,4.
"""
import argparse
import json
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
ENVIRONMENT = {**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def write_rmat(folder, nodes, edges, features):
    """A power-law graph (R-MAT 0.57, 0.19, 0.19, 0.05) with shuffled numbers, as a folder of arrays; 4000 nodes have labels."""
    random = np.random.default_rng(1)
    folder.mkdir(parents=True)
    levels = int(np.ceil(np.log2(nodes)))
    number = random.permutation(nodes).astype(np.int32)
    pieces = []
    for first in range(0, edges, 10_000_000):
        count = min(10_000_000, edges - first)
        source, target = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for _ in range(levels):
            draw = random.random(count, dtype=np.float32)
            down = draw >= 0.76
            right = ((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95)
            source, target = (source << 1) | down, (target << 1) | right
        source, target = number[source % nodes], number[target % nodes]
        pieces.append(np.stack([source, target], 1)[source != target])
    np.save(folder / "edges.npy", np.concatenate(pieces))
    np.save(folder / "node_features.npy", random.standard_normal((nodes, features), dtype=np.float32))
    labels = np.full(nodes, -1, np.int32)
    known = random.permutation(nodes)[:4000]
    labels[known] = random.integers(0, 4, 4000)
    np.save(folder / "node_labels.npy", labels)
    for name, part in (("train", slice(0, 1000)), ("val", slice(1000, 2000)), ("test", slice(2000, 4000))):
        mask = np.zeros((1, nodes), bool)
        mask[0, known[part]] = True
        np.save(folder / f"{name}_masks.npy", mask)


def measured(file, command):
    """Runs the command as a child and writes its time and peak memory; what each process of mpirun is started through."""
    begin = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    pathlib.Path(file + "." + os.environ.get("OMPI_COMM_WORLD_RANK", "0")).write_text(
        json.dumps({"peak_bytes": peak, "seconds": time.monotonic() - begin}))
    return code


def run(processes, program, home, *arguments):
    """One JSON object of the command, and the time and peak memory of each process."""
    for old in home.glob("process.*"):
        old.unlink()
    command = [sys.executable, os.path.abspath(__file__), "--measured", str(home / "process"), program, *arguments]
    if processes > 1:
        command = [*MPIRUN, "-n", str(processes), *command]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    each = [json.loads((home / f"process.{rank}").read_text()) for rank in range(processes)]
    return json.loads(done.stdout), each


def trained(processes, program, home, data, *flags):
    result, each = run(processes, program, home, "train", "--dataset", str(data), "--recipe", "paper", "--solver", "sparse",
                       "--head", "plain", "--encoder", "0", "--epochs", "20", "--patience", "20", "--json", *flags)
    return {"processes": processes, "flags": list(flags), "peak_bytes": [one["peak_bytes"] for one in each],
            "seconds": max(one["seconds"] for one in each), "preprocess_seconds": result["preprocess_seconds"],
            "seconds_per_epoch": result["seconds_per_epoch"], "test_loss": result["loss"]["test"]}


def say(row):
    print(f"{row['processes']} processes {' '.join(row['flags'])}: {max(row['peak_bytes']) / 1e9:.2f} GB a process, "
          f"{row['seconds']:.1f} s, {1e3 * row['seconds_per_epoch']:.0f} ms an epoch", flush=True)


def converted(program, home, name, nodes, edges, features):
    """Shards of a graph, generated and converted the first time. Returns their path and what it took."""
    shards, data = home / f"{name}-shards", home / name
    if shards.exists():
        return shards, {}
    begin = time.monotonic()
    write_rmat(data, nodes, edges, features)
    generated = time.monotonic() - begin
    _, each = run(1, program, home, "convert", "--dataset", str(data), "--shards", "4", "--memory", "2G", "--out", str(shards),
                  "--json")
    shutil.rmtree(data)
    size = sum(path.stat().st_size for path in shards.rglob("*") if path.is_file())
    return shards, {"generate_seconds": generated, "convert_seconds": each[0]["seconds"],
                    "convert_peak_bytes": each[0]["peak_bytes"], "shard_bytes": size}


def measure_memory(program, home, processes):
    data = home / "million"
    if not data.exists():
        write_rmat(data, 1_000_000, 10_000_000, 64)
    shards, _ = converted(program, home, "million-again", 1_000_000, 10_000_000, 64)
    # What the program and libtorch take with next to no data.
    empty = [trained(count, program, home, "karate") for count in (1, max(processes))]
    rows = []
    for count in processes:
        grids = ["4x1", "2x2", "1x4"] if count == 4 else [f"{count}x1", f"1x{count}"]
        for grid in grids if count > 1 else [None]:
            for source in (data, shards):
                rows.append(trained(count, program, home, source, *(["--grid", grid] if grid else [])))
                rows[-1]["data"] = "shards" if source == shards else "folder"
                say(rows[-1])
    one = min(max(row["peak_bytes"]) for row in rows if row["processes"] == 1) - max(empty[0]["peak_bytes"])
    for row in rows:
        own = max(row["peak_bytes"]) - max(empty[0 if row["processes"] == 1 else 1]["peak_bytes"])
        row["share_of_one"] = own / one
    return {"empty": empty, "rows": rows}


def measure_large(program, home, processes):
    shards, made = converted(program, home, "large", 10_000_000, 100_000_000, 32)
    rows = []
    for count in processes:
        rows.append(trained(count, program, home, shards))
        say(rows[-1])
    return {**made, "rows": rows}


def outcome(processes, program, home, flags):
    """The losses of each epoch, and the predictions."""
    folder = home / "outcome"
    shutil.rmtree(folder, ignore_errors=True)
    run(processes, program, home, "train", *flags, "--threads", "1", "--out", str(folder), "--json")
    epochs = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    with open(folder / "predictions.csv", encoding="utf-8") as table:
        predicted = [line.split(",")[3] for line in table]
    return np.array([[row["train_loss"], row["val_loss"]] for row in epochs]), predicted


def measure_agree(program, home, processes):
    """Texas, PPI (where they are), chains of 10 000 nodes and R-MAT graphs, in both precisions, on every grid."""
    small = home / "rmat-small"
    if not small.exists():
        write_rmat(small, 20_000, 200_000, 32)
    paper = ["--recipe", "paper", "--solver", "sparse"]
    sets = {"chains of 10 000 nodes": ["--dataset", "chains", "--chain-length", "250", *paper[2:], "--head", "l2", "--epochs", "20"],
            "R-MAT of 20 000 nodes": ["--dataset", str(small), *paper, "--epochs", "20"],
            "Texas": ["--dataset", "texas", *paper, "--epochs", "5"],
            "PPI": ["--dataset", "ppi", "--epochs", "3"]}
    rows = []
    for name, flags in sets.items():
        if name in ("Texas", "PPI") and not os.environ.get("EIGNN_DATA"):
            continue
        for dtype in ("float64", "float32"):
            losses, predicted = outcome(1, program, home, [*flags, "--dtype", dtype])
            for count in processes:
                grids = [None] if name == "PPI" or count == 1 else [
                    f"{r}x{count // r}" for r in range(1, count + 1) if count % r == 0]
                for grid in grids:
                    found, theirs = outcome(count, program, home, [*flags, "--dtype", dtype, *(["--grid", grid] if grid else [])])
                    rows.append({"data": name, "dtype": dtype, "processes": count, "grid": grid, "epochs": len(losses),
                                 "largest_difference": float(np.abs(found - losses).max()) if found.shape == losses.shape else None,
                                 "other_predictions": sum(a != b for a, b in zip(predicted, theirs))})
                    print(rows[-1], flush=True)
    return {"rows": rows}


def measure_model(program, home, processes):
    rows = []
    for count in processes:
        for grid in [None] if count == 1 else [f"{count}x1", f"1x{count}"]:
            result, _ = run(count, program, home, "bench", "cluster", "--json", "--threads", "1",
                            *(["--grid", grid] if grid else []))
            result["ratio"] = {part: result["expected"][part] / result["measured"][part] for part in ("preparation_s", "epoch_s")}
            rows.append(result)
            print(f"{count} processes {grid or ''}: expected over measured {result['ratio']}", flush=True)
    return {"rows": rows}


def main():
    if len(sys.argv) > 3 and sys.argv[1] == "--measured":
        return measured(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("eignn")
    parser.add_argument("what", choices=("memory", "large", "model", "agree"))
    parser.add_argument("--out")
    parser.add_argument("--folder")
    parser.add_argument("--processes")
    asked = parser.parse_args()
    processes = [int(word) for word in (asked.processes or ({"large": "1,2", "agree": "1,2,3,4"}.get(asked.what, "1,2,4"))).split(",")]
    home = pathlib.Path(asked.folder or tempfile.mkdtemp(prefix="eignn-bench-"))
    home.mkdir(parents=True, exist_ok=True)
    try:
        measure = {"memory": measure_memory, "large": measure_large, "model": measure_model, "agree": measure_agree}[asked.what]
        report = measure(os.path.abspath(asked.eignn), home, processes)
    finally:
        if not asked.folder:
            shutil.rmtree(home, ignore_errors=True)
    version = subprocess.run([asked.eignn, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    report = {"what": asked.what, "version": version, "machine": f"{os.cpu_count()} cores, {platform.machine()}", **report}
    out = asked.out or f"results/bench-cluster-{asked.what}.json"
    pathlib.Path(out).write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
