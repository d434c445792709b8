#!/bin/sh
# Draws docs/figures/reach.svg: test accuracy by distance on undirected chains of 200 nodes, two classes, one recipe,
# solved exactly and by the eigendecomposition. Needs gnuplot and python3.  Use: docs/figures/reach.sh build/release/eignn
set -eu
eignn=$1
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for solver in direct spectral; do
  "$eignn" train --dataset chains --chain-length 200 --dtype float64 --solver "$solver" --seed 0 --threads 1 --json >"$work/$solver.json"
  python3 -c '
import json, sys
for band in json.load(open(sys.argv[1]))["accuracy_by_distance"]:
    print((band["from"] + band["to"]) / 2, 100 * band["accuracy"])' "$work/$solver.json" >"$work/$solver.dat"
done
gnuplot <<END
set terminal svg size 640,300 font "sans-serif,13" background "white"
set output "$here/reach.svg"
set xlabel "hops from the informative node"
set ylabel "test accuracy, %"
set xrange [0:200]
set yrange [0:105]
set key outside top center horizontal
set grid ytics lc rgb "#dddddd"
plot "$work/direct.dat" with linespoints lw 2 pt 7 lc rgb "#1b6ca8" title "direct (chosen by auto)", \
     "$work/spectral.dat" with linespoints lw 2 pt 5 lc rgb "#c8553d" title "spectral: the paper's closed form, float64"
END
