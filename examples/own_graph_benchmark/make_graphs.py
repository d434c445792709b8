#!/usr/bin/env python3
"""Writes the graphs that the default of EIGNN is measured on:  python3 make_graphs.py FOLDER

rare          4 000 accounts, 5 % of them fraudulent (class 1); six features of scales from 0.1 to 10 000; accounts of a
              kind are linked a little more often among themselves.
blocks        4 000 nodes in four blocks of equal size, eight features.
rare-messy,   the same as people have them: nodes.csv with names as ids, classes as words, a tenth of the values missing
blocks-messy  and a column of words.

Every number follows from the seed below; numpy is all that is needed.
"""
import csv
import pathlib
import sys

import numpy as np

NODES = 4000
SEED = 7


def linked(rng, kind, degree, faithful):
    """Undirected edges: each node draws `degree[v]` partners, of its own kind with probability `faithful[kind]`."""
    members = [np.flatnonzero(kind == k) for k in range(kind.max() + 1)]
    edges = set()
    for v in range(len(kind)):
        for _ in range(degree[v]):
            same = rng.random() < faithful[kind[v]]
            u = int(rng.choice(members[kind[v]]) if same else rng.integers(len(kind)))
            if u != v:
                edges.add((min(u, v), max(u, v)))
    return sorted(edges)


def rare(rng):
    label = np.zeros(NODES, dtype=int)
    label[rng.choice(NODES, NODES // 20, replace=False)] = 1
    degree = 1 + rng.poisson(2.0, NODES)
    edges = linked(rng, label, degree, faithful=[0.0, 0.5])
    shift = 0.75 * np.array([1.0, -0.8, 0.6, 0.9, -0.5, 0.0])
    z = rng.standard_normal((NODES, 6)) + label[:, None] * shift
    features = {
        "balance": 2500 + 1200 * z[:, 0],
        "age": 44 + 13 * z[:, 1],
        "share_abroad": 0.3 + 0.1 * z[:, 2],
        "turnover": 30000 + 9000 * z[:, 3],
        "payments": 20 + 6 * z[:, 4],
        "branch_distance": 5 + 2 * z[:, 5],
    }
    return edges, features, label, ["honest", "fraud"]


def blocks(rng):
    label = rng.permutation(np.arange(NODES) % 4)
    degree = 1 + rng.poisson(1.5, NODES)
    edges = linked(rng, label, degree, faithful=[0.68] * 4)
    centre = 0.62 * np.linalg.qr(rng.standard_normal((8, 4)))[0].T * 2
    z = rng.standard_normal((NODES, 8)) + centre[label]
    features = {f"x{k}": z[:, k] for k in range(8)}
    return edges, features, label, ["north", "east", "south", "west"]


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def write_plain(folder, edges, features, label):
    write(folder / "edges.csv", ["source", "target"], edges)
    columns = list(features.values())
    write(folder / "features.csv", ["id", *features], ([v, *(f"{c[v]:.6g}" for c in columns)] for v in range(NODES)))
    write(folder / "labels.csv", ["id", "class"], enumerate(label))


def write_messy(rng, folder, edges, features, label, words):
    names = [f"{prefix}-{v:04d}" for v, prefix in enumerate(rng.choice(["acct", "Konto", "compte"], NODES))]
    regions = np.array(["north", "south", "islands", "abroad"])
    # The region tells a little of the class, for a quarter of the nodes.
    told = rng.random(NODES) < 0.25
    region = np.where(told, regions[label % 4], rng.choice(regions, NODES))
    gaps = rng.random((NODES, len(features) + 1)) < 0.1
    marks = rng.choice(["", "NA"], (NODES, len(features) + 1))
    rows = []
    for v in range(NODES):
        values = [f"{c[v]:.6g}" for c in features.values()] + [region[v]]
        values = [marks[v, k] if gaps[v, k] else value for k, value in enumerate(values)]
        rows.append([names[v], *values, words[label[v]]])
    order = rng.permutation(NODES)
    write(folder / "nodes.csv", ["id", *features, "region", "label"], (rows[v] for v in order))
    write(folder / "edges.csv", ["source", "target"], ([names[a], names[b]] for a, b in edges))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_graphs.py FOLDER")
    out = pathlib.Path(sys.argv[1])
    for number, (name, make) in enumerate([("rare", rare), ("blocks", blocks)]):
        rng = np.random.default_rng([SEED, number])
        edges, features, label, words = make(rng)
        write_plain(out / name, edges, features, label)
        write_messy(rng, out / f"{name}-messy", edges, features, label, words)
        print(f"{out / name}: {NODES} nodes, {len(edges)} edges, classes of {np.bincount(label).tolist()} nodes")


if __name__ == "__main__":
    main()
