#!/usr/bin/env python3
"""Trains models on a graph with several seeds, each with a split of its own, and prints a table:

    python3 compare.py EIGNN GRAPH... [--models eignn,gcn,mlp] [--seeds 10] [--flags "--encoder 16"]

EIGNN is the program. Every model runs with its defaults for own graphs; --flags are added to all. Means and standard deviations
of the test nodes; nothing here chooses anything by them.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("eignn")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--models", default="eignn,gcn,mlp")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--flags", default="")
    parser.add_argument("--part", default="test", choices=["val", "test"])
    options = parser.parse_args()

    print("| graph | model | ROC-AUC | average precision | accuracy | majority | epochs | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for graph in options.graphs:
        for model in options.models.split(","):
            runs, begun = [], time.monotonic()
            for seed in range(options.seeds):
                command = [options.eignn, "train", "--dataset", graph, "--model", model, "--seed", str(seed), "--json"]
                done = subprocess.run(command + shlex.split(options.flags), stdout=subprocess.PIPE, check=True,
                                      stderr=subprocess.DEVNULL)
                runs.append(json.loads(done.stdout))
            seconds = (time.monotonic() - begun) / options.seeds

            def of(metric, scale, digits):
                values = [scale * run[f"{options.part}_{metric}"] for run in runs]
                spread = statistics.stdev(values) if len(values) > 1 else 0
                return f"{statistics.mean(values):.{digits}f} ± {spread:.{digits}f}"

            print(f"| {pathlib.Path(graph).name} | {model} | {of('roc_auc', 1, 4)} | {of('average_precision', 1, 3)} | "
                  f"{of('accuracy', 100, 2)} | {100 * statistics.mean(run['majority_share'] for run in runs):.2f} | "
                  f"{statistics.mean(run['epochs'] for run in runs):.0f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
