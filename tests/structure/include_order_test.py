#!/usr/bin/python3
"""Which room may include which, and what belongs to the command line alone.

    include_order_test.py SOURCE_FOLDER

Includes go one way: graph, equilibrium, cluster, models, train, run, attack and explain, report, paper, cli and python. Files and data sets (data)
come after graph and are used from train on. Command-line flags, CLI11 and whatever is printed belong to cli.
"""
import pathlib
import re
import sys

RANK = {"graph": 0, "data": 1, "equilibrium": 2, "cluster": 3, "models": 4, "train": 5, "run": 6, "attack": 7,
        "explain": 7, "report": 8, "paper": 9, "cli": 10, "python": 10}
NOT_FROM = {("equilibrium", "data"), ("models", "data"), ("attack", "explain"), ("explain", "attack")}

# Breaches that are still there: "file: room it includes". Remove an entry with its breach; add none.
KNOWN_INCLUDES = set()
KNOWN_CLI11 = set()
KNOWN_PRINTS = set()
# A page of results records the command of each run.
KNOWN_FLAGS = {"src/paper/study.cpp"}


def sources_of(root):
    for folder in ("src", "include", "python/binding"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu"):
                yield path, path.relative_to(root).as_posix()


def breaches(root):
    found = {"include": set(), "CLI11": set(), "print": set(), "flag": set()}
    for path, name in sources_of(root):
        room = name.split("/")[1] if name.startswith("src/") else name.split("/")[0]
        text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        for included in re.findall(r'#include "([a-z_]+)/[^"]*"', text):
            if included == "eignn":
                continue
            if room == "include":
                found["include"].add(f"{name}: {included}")
            elif included in RANK and room in RANK:
                if RANK[included] > RANK[room] or (room, included) in NOT_FROM or (
                        RANK[included] == RANK[room] and included != room):
                    found["include"].add(f"{name}: {included}")
        if room == "cli":
            continue
        if re.search(r"#include <CLI/", text):
            found["CLI11"].add(name)
        if re.search(r"std::c(err|out|log)\b|fmt::print\(|\bf?printf\(|\bf?puts\(|\bperror\(", text):
            found["print"].add(name)
        if re.search(r'"[^"\n]*--[a-z][^"\n]*"', text):
            found["flag"].add(name)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    found = breaches(root)
    if not any(name.startswith("src/graph/") for _, name in sources_of(root)):
        print(f"no sources in {root}")
        return 1
    failed = False
    known = {"include": KNOWN_INCLUDES, "CLI11": KNOWN_CLI11, "print": KNOWN_PRINTS, "flag": KNOWN_FLAGS}
    what = {"include": "includes against the order of the rooms", "CLI11": "includes CLI11 outside src/cli",
            "print": "prints outside src/cli", "flag": "names a command-line flag outside src/cli"}
    for kind, names in found.items():
        for name in sorted(names - known[kind]):
            print(f"{name} {what[kind]}")
            failed = True
        for name in sorted(known[kind] - names):
            print(f"note: {name} is mended; remove it from the known breaches in tests/structure/include_order_test.py")
    return failed


if __name__ == "__main__":
    sys.exit(main())
