#!/usr/bin/python3
"""Writes a large graph as tables: nodes with names, edges with weights, a twentieth of the values missing.

    large_tables.py FOLDER [--nodes 200000] [--edges 1000000] [--seed 0]

Four classes; a node has six numbers, of which three lean towards its class, and a word. Nine edges in ten join nodes of one
class; degrees are uneven. Weights are log-normal. docs/performance.md has what reading and training take ("Reading tables").
"""
import argparse
import pathlib

import numpy as np

CLASSES, NUMBERS, TOWNS = 4, 6, 12


def chosen(draw, members, count):
    """So many members, the first of them far more often than the last."""
    return members[(len(members) * draw.random(count) ** 1.5).astype(np.int64)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    draw = np.random.default_rng(flags.seed)
    flags.folder.mkdir(parents=True, exist_ok=True)

    label = draw.integers(CLASSES, size=flags.nodes)
    values = draw.normal(size=(flags.nodes, NUMBERS))
    values[:, :3] += 0.5 * np.stack([label == 0, label == 1, label == 2], axis=1)
    values *= 10.0 ** np.arange(NUMBERS)
    town = draw.integers(TOWNS, size=flags.nodes)
    gap = draw.random((flags.nodes, NUMBERS)) < 0.05
    with open(flags.folder / "nodes.csv", "w", encoding="utf-8") as file:
        file.write("id,label," + ",".join(f"number_{k}" for k in range(NUMBERS)) + ",town\n")
        for v in range(flags.nodes):
            fields = ["" if gap[v, k] else f"{values[v, k]:.6g}" for k in range(NUMBERS)]
            file.write(f"person-{v:07d},class {label[v]},{','.join(fields)},town {town[v]}\n")

    order = draw.permutation(flags.nodes)
    of_class = [order[label[order] == c] for c in range(CLASSES)]
    block = 1_000_000
    with open(flags.folder / "edges.csv", "w", encoding="utf-8") as file:
        file.write("source,target,weight\n")
        for first in range(0, flags.edges, block):
            count = min(block, flags.edges - first)
            source = chosen(draw, order, count)
            target = chosen(draw, order, count)
            alike = draw.random(count) < 0.9
            for c in range(CLASSES):
                mine = alike & (label[source] == c)
                target[mine] = chosen(draw, of_class[c], int(mine.sum()))
            weight = np.exp(draw.normal(size=count))
            file.writelines(f"person-{a:07d},person-{b:07d},{w:.5g}\n" for a, b, w in zip(source, target, weight))


if __name__ == "__main__":
    main()
