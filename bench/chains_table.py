#!/usr/bin/env python3
"""Trains EIGNN on chains of every length, class count, direction and seed, with the recipe and with the paper's plain
settings, and writes results/chains-recipes.json and results/chains-recipes.md.

    bench/chains_table.py build/release/eignn results [--threads N]

Goes on where it stopped: runs that the JSON file already holds for this commit are not repeated.
"""
import json
import os
import platform
import subprocess
import sys

LENGTHS, CLASSES, SEEDS, DIRECTIONS = (10, 50, 100, 150, 200), (2, 5), (0, 1, 2), ("undirected", "in")
PLAIN = ["--start", "xavier", "--lr-propagation", "-1", "--weight-decay-propagation", "-1"]
KEEP = ("solver", "dtype", "threads", "epochs", "best_epoch", "test_accuracy", "weight_change", "mu_start", "mu_end",
        "seconds_total", "commit")


def processor():
    with open("/proc/cpuinfo") as cpuinfo:
        names = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} cores"


def main():
    eignn, folder = sys.argv[1:3]
    extra = sys.argv[3:]
    path = os.path.join(folder, "chains-recipes.json")
    commit = subprocess.run([eignn, "--version"], check=True, capture_output=True, text=True).stdout.split("(")[1].rstrip(")\n")
    table = {"commit": commit, "machine": processor(), "runs": []}
    if os.path.exists(path):
        with open(path) as file:
            before = json.load(file)
        if before["commit"] == commit:
            table = before
    done = {tuple(run["key"]) for run in table["runs"]}
    for settings, flags in (("recipe", []), ("plain", PLAIN)):
        for classes in CLASSES:
            for length in LENGTHS:
                for direction in DIRECTIONS:
                    for seed in SEEDS:
                        key = (settings, classes, length, direction, seed)
                        if key in done:
                            continue
                        command = ["train", "--dataset", "chains", "--chain-length", str(length), "--num-classes", str(classes),
                                   "--seed", str(seed), "--direction", direction, *flags, *extra, "--json"]
                        summary = json.loads(subprocess.run([eignn, *command], check=True, capture_output=True, text=True).stdout)
                        run = {"key": key, "command": "eignn " + " ".join(command)}
                        run.update({name: summary[name] for name in KEEP})
                        table["runs"].append(run)
                        with open(path + ".tmp", "w") as file:
                            json.dump(table, file, indent=1)
                        os.replace(path + ".tmp", path)
    write_markdown(table, os.path.join(folder, "chains-recipes.md"))


def write_markdown(table, path):
    runs = {tuple(run["key"]): run for run in table["runs"]}
    flags = "".join(" " + word for word in sys.argv[3:])
    lines = ["# EIGNN on chains", "",
             f"Commit {table['commit']}; {table['machine']}; seeds 0, 1, 2; lowest test accuracy of the three, in percent, and the",
             f"range of ‖F − F₀‖/‖F₀‖. Made by `bench/chains_table.py build/release/eignn results{flags}`; every run with its command is",
             "in `chains-recipes.json`. *recipe*: `recipes/chains-binary.toml`, `recipes/chains-multiclass.toml`. *plain*: the same",
             "with Xavier F and one learning rate and decay for all, the paper's settings.", ""]
    for classes in CLASSES:
        lines += [f"## {classes} classes", "",
                  "| length | recipe, undirected | recipe, directed | F moved | plain, undirected | plain, directed | F moved |",
                  "| --- | --- | --- | --- | --- | --- | --- |"]
        for length in LENGTHS:
            cells = []
            for settings in ("recipe", "plain"):
                of = {d: [runs.get((settings, classes, length, d, s)) for s in SEEDS] for d in DIRECTIONS}
                if any(run is None for d in DIRECTIONS for run in of[d]):  # an interrupted table shows what there is
                    cells += ["not run"] * 3
                    continue
                cells += [f"{100 * min(r['test_accuracy'] for r in of[d]):.2f}" for d in DIRECTIONS]
                moved = [r["weight_change"] for d in DIRECTIONS for r in of[d]]
                cells.append(f"{min(moved):.2f}–{max(moved):.2f}")
            lines.append(f"| {length} | " + " | ".join(cells) + " |")
        lines.append("")
    with open(path + ".tmp", "w") as file:
        file.write("\n".join(lines))
    os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
