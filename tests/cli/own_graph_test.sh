#!/bin/sh
# The example of docs/data.md from the files to the predictions:  sh own_graph_test.sh PATH_TO_EIGNN
set -eu
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: own_graph_test.sh PATH_TO_EIGNN" >&2; exit 2; }
eignn=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
example=$(cd "$(dirname "$0")/../../examples/own-graph" && pwd)

T=$(mktemp -d "${TMPDIR:-/tmp}/eignn-own.XXXXXX") || exit 2
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
EIGNN_CACHE=$T/cache
export EIGNN_CACHE
cd "$T"

"$eignn" inspect --dataset "$example"
"$eignn" train --dataset "$example" --out runs/own
"$eignn" predict --checkpoint runs/own --dataset "$example" --out predictions.csv

# Every third node has no label; the groups are the even and the odd nodes. By chance 10 of the 20 would be right.
awk -F, '
  NR == 1 { if ($1 != "node" || $3 != "label" || $4 != "predicted") { print "FAILED header: " $0; bad = 1 } next }
  { rows++ }
  $4 != "0" && $4 != "1" { print "FAILED class: " $0; bad = 1 }
  $1 % 3 == 2 { gaps++; right += $4 == $1 % 2; if ($3 != "-1" && $3 != "") { print "FAILED label of a gap: " $0; bad = 1 } }
  $1 % 3 != 2 && $3 != $1 % 2 { print "FAILED label: " $0; bad = 1 }
  END {
    if (rows != 60 || gaps != 20) { print "FAILED " rows " rows, " gaps " of them gaps"; bad = 1 }
    if (right < 16) { print "FAILED only " right " of the gaps are right"; bad = 1 }
    if (!bad) print "ok " right " of " gaps " gaps are right"
    exit bad
  }' predictions.csv
