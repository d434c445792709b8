#!/bin/sh
# The example with names, weights and gaps, from the tables to the predictions:  sh named_graph_test.sh PATH_TO_EIGNN
set -eu
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: named_graph_test.sh PATH_TO_EIGNN" >&2; exit 2; }
eignn=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
example=$(cd "$(dirname "$0")/../../examples/named-graph" && pwd)

T=$(mktemp -d "${TMPDIR:-/tmp}/eignn-named.XXXXXX") || exit 2
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
EIGNN_CACHE=$T/cache
export EIGNN_CACHE
cd "$T"

failures=0
has() {
  grep -q -- "$2" "$1" || { echo "FAILED: $1 lacks: $2"; cat "$1"; failures=$((failures + 1)); }
}

"$eignn" inspect --dataset "$example" > inspect.txt
has inspect.txt '^nodes.csv  id '
has inspect.txt '2 classes: chess, rowing'
has inspect.txt 'gaps filled with the median'
has inspect.txt '3 words: Harbour, Hill, Old Town'
has inspect.txt '2 nodes in edges alone'
"$eignn" inspect --dataset "$example" --json > inspect.json
/usr/bin/python3 - inspect.json <<'P' || failures=$((failures + 1))
import json, sys
columns = {c["column"]: c for c in json.load(open(sys.argv[1]))["columns"]}
assert list(columns) == ["id", "label", "age", "hours", "district", "source", "target", "weight"], columns
assert columns["label"]["kind"] == "label" and columns["label"]["gaps"] == 18, columns["label"]
assert columns["district"]["kind"] == "category", columns["district"]
P
"$eignn" train --dataset "$example" --feature-norm standard --epochs 300 --out runs/named > train.txt
has train.txt '^nodes.csv  id '
has train.txt '2 classes: chess, rowing'
/usr/bin/python3 - runs/named <<'P' || failures=$((failures + 1))
import csv, json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
assert any(c["column"] == "age" and "divided by" in c["treatment"] for c in summary["columns"]), summary["columns"]
rows = list(csv.DictReader(open(sys.argv[1] + "/predictions.csv")))
assert len(rows) == 82, len(rows)
assert sum(r["label"] == "" for r in rows) == 18
P
# What is wrong is said in one line, with the file, the line, the column and what to do.
mkdir bad
cp "$example/edges.csv" bad/
sed '3s/35/thirty-five/' "$example/nodes.csv" > bad/nodes.csv
"$eignn" inspect --dataset bad > out.txt 2> error.txt && { echo "FAILED: words among numbers pass"; failures=$((failures + 1)); }
has error.txt "'thirty-five' is not a number.*nodes.csv, line 3, column 'age'); leave the field empty"
[ "$(wc -l < error.txt)" -eq 1 ] || { echo "FAILED: more than one line"; cat error.txt; failures=$((failures + 1)); }
"$eignn" train --dataset "$example" --label club > out.txt 2> error.txt && failures=$((failures + 1))
has error.txt "no column 'club'"
# Tables without features have those of the graph itself.
mkdir bare
cp "$example/edges.csv" bare/
cut -d, -f1,2 "$example/nodes.csv" > bare/nodes.csv
"$eignn" inspect --dataset bare > bare.txt
has bare.txt 'log core number .*of the graph itself'
[ "$failures" -eq 0 ] && echo ok
exit "$failures"
