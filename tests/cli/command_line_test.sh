#!/bin/sh
# The command line as an outsider meets it:  sh command_line_test.sh PATH_TO_EIGNN
# One line per check, `ok ...` or `FAILED ...`; the last line counts them. Needs /usr/bin/python3 with NumPy.
set -u
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: command_line_test.sh PATH_TO_EIGNN" >&2; exit 2; }
eignn=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
python=/usr/bin/python3

T=$(mktemp -d "${TMPDIR:-/tmp}/eignn-cli.XXXXXX") || exit 2
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
EIGNN_CACHE=$T/cache
export EIGNN_CACHE
unset NO_COLOR EIGNN_DATA
mkdir "$T/out" "$T/in" "$T/a-folder"
: >"$T/everything"
passed=0
failed=0

ok() { passed=$((passed + 1)); printf 'ok %s\n' "$1"; }
fail() { failed=$((failed + 1)); printf 'FAILED %s\n' "$1"; shift; for why in "$@"; do printf '  %s\n' "$why"; done; }
check() { # check NAME COMMAND...: the command succeeds
  name=$1; shift
  if "$@" >"$T/why" 2>&1; then ok "$name"; else fail "$name" "$(head -n 5 "$T/why")"; fi
}
run() { # run ARGUMENTS...: leaves $code, $T/stdout, $T/stderr
  "$eignn" "$@" >"$T/stdout" 2>"$T/stderr" </dev/null
  code=$?
  cat "$T/stdout" "$T/stderr" >>"$T/everything"
}
done_well() { # done_well NAME: the last run exited 0
  if [ "$code" -eq 0 ]; then ok "$1"; else fail "$1" "exit code $code: $(head -n 3 "$T/stderr")"; fi
}
# refused NAME CODE WORDS ARGUMENTS...: that exit code; one line `eignn: error: what (where); remedy` that holds each of
# WORDS (separated by commas); nothing on standard output; nothing, and no temporary, left in the folder for outputs.
refused() {
  name=$1 want=$2 words=$3
  shift 3
  run "$@"
  why=
  [ "$code" -eq "$want" ] || why="$why exit code $code, not $want;"
  [ "$(wc -l <"$T/stderr")" -eq 1 ] || why="$why $(wc -l <"$T/stderr") lines on standard error;"
  grep -q '^eignn: error: ' "$T/stderr" || why="$why no 'eignn: error: ';"
  grep -q '^eignn: error: .* (.*); .' "$T/stderr" || why="$why not 'what (where); remedy';"
  [ ! -s "$T/stdout" ] || why="$why something on standard output;"
  [ -z "$(ls -A "$T/out")" ] || why="$why left behind: $(ls -A "$T/out");"
  old_ifs=$IFS; IFS=,
  for word in $words; do grep -qF -e "$word" "$T/stderr" || why="$why '$word' is not named;"; done
  IFS=$old_ifs
  rm -rf "$T/out"; mkdir "$T/out"
  if [ -z "$why" ]; then ok "$name"; else fail "$name" "$why" "saw: $(head -n 3 "$T/stderr")"; fi
}
# refused_late NAME CODE WORDS ARGUMENTS...: the same after the settings of a run were said: the last line is the one error.
refused_late() {
  name=$1 want=$2 words=$3
  shift 3
  run "$@"
  why=
  [ "$code" -eq "$want" ] || why="$why exit code $code, not $want;"
  [ "$(grep -c '^eignn: error: ' "$T/stderr")" -eq 1 ] || why="$why not one line 'eignn: error: ';"
  tail -n 1 "$T/stderr" | grep -q '^eignn: error: .* (.*); .' || why="$why the last line is not 'eignn: error: what (where); remedy';"
  [ ! -s "$T/stdout" ] || why="$why something on standard output;"
  [ -z "$(ls -A "$T/out")" ] || why="$why left behind: $(ls -A "$T/out");"
  old_ifs=$IFS; IFS=,
  for word in $words; do tail -n 1 "$T/stderr" | grep -qF -e "$word" || why="$why '$word' is not named;"; done
  IFS=$old_ifs
  rm -rf "$T/out"; mkdir "$T/out"
  if [ -z "$why" ]; then ok "$name"; else fail "$name" "$why" "saw: $(tail -n 2 "$T/stderr")"; fi
}
# good NAME CODE WORDS ARGUMENTS...: refused although graph, features and weight are good ones
good() {
  name=$1 want=$2 words=$3
  shift 3
  refused "$name" "$want" "$words" solve --graph "$I/g.edges" --features "$I/X.npy" --weight "$I/F.npy" "$@"
}
json() { # json NAME FILE EXPRESSION: FILE is one JSON object, j, of which the Python expression holds
  check "$1" "$python" -c '
import json, sys
j = json.load(open(sys.argv[1]))
assert isinstance(j, dict), "not an object"
assert eval("(" + sys.argv[2] + ")"), json.dumps(j)[:600]' "$2" "$3"
}
lines_without_seconds() { # metrics.jsonl without what a clock wrote
  "$python" -c '
import json, sys
for line in open(sys.argv[1]):
    record = json.loads(line)
    print(json.dumps({k: v for k, v in sorted(record.items()) if not k.startswith("seconds")}))' "$1"
}
same_metrics() { # same_metrics RUN RUN
  lines_without_seconds "$1/metrics.jsonl" >"$T/m1" && lines_without_seconds "$2/metrics.jsonl" >"$T/m2" && cmp "$T/m1" "$T/m2"
}
other_metrics() { ! same_metrics "$1" "$2" >/dev/null 2>&1; }

# The helpers in Python: good and bad input files, and a SIGINT at the right moment.
cat >"$T/inputs.py" <<'END'
import sys
import numpy as np
rng = np.random.default_rng(1)
folder = sys.argv[1] + "/"
n, m = 6, 3
X, F = rng.random((n, m)), rng.random((m, m))
np.save(folder + "X.npy", X)
np.save(folder + "F.npy", F)
np.save(folder + "Y.npy", X)
data = open(folder + "X.npy", "rb").read()
open(folder + "truncated.npy", "wb").write(data[:-20])
open(folder + "header-only.npy", "wb").write(data[:40])
open(folder + "empty.npy", "wb").close()
open(folder + "text.npy", "w").write("1 2 3\n")
np.save(folder + "int.npy", np.arange(m * m).reshape(m, m))
np.save(folder + "rank1.npy", np.ones(n))
np.save(folder + "rank3.npy", np.ones((n, m, 1)))
for name, value in (("nan", np.nan), ("inf", -np.inf)):
    bad = X.copy(); bad[2, 1] = value; np.save(folder + name + "-X.npy", bad)
    bad = F.copy(); bad[1, 2] = value; np.save(folder + name + "-F.npy", bad)
np.save(folder + "F-huge.npy", 1e200 * F)  # F'F overflows
np.save(folder + "X-huge.npy", 1e308 * X)
np.save(folder + "F-one.npy", np.outer(F[0], F[1]))
np.save(folder + "F-tall.npy", np.ones((m + 1, m)))
np.save(folder + "F-other.npy", np.ones((m + 2, m + 2)))
np.save(folder + "Y-short.npy", np.ones((n - 1, m)))
np.save(folder + "zero-rows.npy", np.ones((0, m)))
np.savez(folder + "g.npz", edges=np.array([[0, 1], [1, 2]]))
np.savez(folder + "no-edges.npz", links=np.array([[0, 1]]))
np.savez(folder + "float-edges.npz", edges=np.array([[0.5, 1.0]]))
np.savez(folder + "three.npz", edges=np.array([[0, 1, 2]]))
open(folder + "torn.npz", "wb").write(open(folder + "g.npz", "rb").read()[:90])
files = {"g.edges": "0 1\n1 2\n2 3\n", "past.edges": "0 1\n1 6\n", "negative.edges": "0 1\n-1 2\n",
         "words.edges": "0 1\none two\n", "one.edges": "0 1\n2\n", "huge.edges": "0 1\n0 99999999999999999999\n",
         "past.mtx": "%%MatrixMarket matrix coordinate pattern general\n6 6 1\n7 1\n",
         "zero.mtx": "%%MatrixMarket matrix coordinate pattern general\n6 6 1\n0 1\n",
         "short.mtx": "%%MatrixMarket matrix coordinate pattern general\n6 6 3\n1 2\n",
         "other.mtx": "%%MatrixMarket matrix coordinate pattern general\n9 9 1\n1 2\n",
         "counts.mtx": "%%MatrixMarket matrix coordinate pattern general\n6 6 5\n1 2\n2 1\n1 2\n1 1\n4 5\n"}
for name, text in files.items():
    open(folder + name, "w").write(text)
big = 60
ring = ["%d %d\n%d %d\n" % (i, (i + 1) % big, i, (7 * i + 3) % big) for i in range(big)]
open(folder + "sixty.edges", "w").write("".join(ring))
np.save(folder + "sixty-X.npy", rng.random((big, m)))
END
cat >"$T/interrupt.py" <<'END'
"""interrupt.py FOLDER EPOCHS SECONDS COMMAND...: SIGINT once metrics.jsonl has so many lines, or after SECONDS."""
import signal, subprocess, sys, time
folder, epochs, seconds, command = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
process = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
start = time.time()
while process.poll() is None and time.time() - start < seconds:
    try:
        if open(folder + "/metrics.jsonl", "rb").read().count(b"\n") >= epochs:
            break
    except OSError:
        pass
    time.sleep(0.01)
if process.poll() is None:
    process.send_signal(signal.SIGINT)
code = process.wait(timeout=60)
sys.exit(code if code >= 0 else 200 - code)  # 202: the signal itself killed it
END
"$python" "$T/inputs.py" "$T/in" || { echo "cannot write the inputs"; exit 2; }
I=$T/in
O=$T/out

# Help and version ---------------------------------------------------------------------------------------------------
help_of() { # help_of COMMAND...
  run "$@" --help
  if [ "$code" -eq 0 ] && grep -q Examples "$T/stdout" && [ ! -s "$T/stderr" ]; then ok "help: eignn $* --help"
  else fail "help: eignn $* --help" "exit code $code, no Examples, or something on standard error"; fi
}
help_of
for command in train evaluate predict attack explain report solve inspect bench; do help_of $command; done
for bench in chains heterophilic ppi scaling; do help_of bench $bench; done
run --version
check "version: a number" grep -Eq '^eignn [0-9]+\.[0-9]+\.[0-9]+' "$T/stdout"

# Names that nobody knows --------------------------------------------------------------------------------------------
refused "names: command" 2 "slove,did you mean solve" slove
refused "names: command of bench" 2 "chians,did you mean chains" bench chians
refused "names: flag of solve" 2 "--feature,did you mean --features" \
  solve --graph "$I/g.edges" --feature "$I/X.npy" --weight "$I/F.npy" --out "$O/Z.npy"
refused "names: flag of solve in place of a required one" 2 "--grph,did you mean --graph" \
  solve --grph "$I/g.edges" --features "$I/X.npy" --weight "$I/F.npy" --out "$O/Z.npy"
refused "names: flag of train" 2 "--epoch,did you mean --epochs" train --dataset chains --epoch 3
refused "names: data set" 2 "chians,did you mean chains" train --dataset chians
refused "names: model" 2 "eigen,did you mean eignn" train --dataset chains --model eigen
refused "names: solver of train" 2 "spctral,did you mean spectral" train --dataset chains --solver spctral
good "names: solver of solve" 2 "pikard,did you mean picard" --solver pikard --out "$O/Z.npy"
refused "names: a required flag is missing" 2 "--weight" \
  solve --graph "$I/g.edges" --features "$I/X.npy" --out "$O/Z.npy"
refused "names: a flag without its value" 2 "--epochs" train --dataset chains --epochs
refused "names: a word where a number belongs" 2 "--epochs,ten" train --dataset chains --epochs ten
good "flags: a gradient needs a cotangent" 2 "--cotangent" --out "$O/Z.npy" --grad-weight "$O/dF.npy"

# Values out of range ------------------------------------------------------------------------------------------------
solve() { refused "$1" "$2" "$3" solve --graph "$4" --features "$5" --weight "$6" --out "$O/Z.npy" ${7+"$7" "$8"}; }
for gamma in 0 -1 1.5 nan; do
  refused "range: train --gamma $gamma" 2 "--gamma" train --dataset chains --gamma "$gamma"
  solve "range: solve --gamma $gamma" 2 "--gamma" "$I/g.edges" "$I/X.npy" "$I/F.npy" --gamma "$gamma"
done
solve "range: solve --threads -2" 2 "--threads" "$I/g.edges" "$I/X.npy" "$I/F.npy" --threads -2
solve "range: solve --epsilon -1" 2 "--epsilon" "$I/g.edges" "$I/X.npy" "$I/F.npy" --epsilon -1
refused "range: train --epochs -3" 2 "--epochs" train --dataset chains --epochs -3
refused "range: train --dropout 1" 2 "--dropout" train --dataset chains --dropout 1
refused "range: train --chain-length 0" 2 "--chain-length" train --dataset chains --chain-length 0
refused "range: train --rank 0" 2 "--rank,0 is out of range" train --dataset karate --rank 0
refused_late "range: train --rank beyond the features" 2 "--rank,at most 34" train --dataset karate --rank 35
refused "range: train --rank with a model that has none" 2 "--rank,gcn" train --dataset karate --model gcn --rank 3

# Bad files ----------------------------------------------------------------------------------------------------------
features() { solve "features: $1" 1 "$3" "$I/g.edges" "$I/$2" "$I/F.npy"; }
features truncated truncated.npy truncated.npy
features "torn in the header" header-only.npy header-only.npy
features empty empty.npy empty.npy
features "no NumPy file" text.npy text.npy
features "rank 1" rank1.npy rank1.npy
features "rank 3" rank3.npy rank3.npy
features NaN nan-X.npy "nan-X.npy"
features infinity inf-X.npy "inf-X.npy"
features "no rows" zero-rows.npy zero-rows.npy
features missing nothing.npy nothing.npy
solve "features: a folder" 1 "a-folder" "$I/g.edges" "$T/a-folder" "$I/F.npy"
weight() { solve "weight: $1" 1 "$3" "$I/g.edges" "$I/X.npy" "$I/$2"; }
weight int64 int.npy int.npy
weight NaN nan-F.npy nan-F.npy
weight infinity inf-F.npy inf-F.npy
weight "more rows than columns" F-tall.npy F-tall.npy
weight "another width than the features" F-other.npy "5,3"
weight missing nothing.npy nothing.npy
solve "overflow: F'F, direct" 1 "" "$I/g.edges" "$I/X.npy" "$I/F-huge.npy" --solver direct
solve "overflow: F'F, krylov" 1 "" "$I/g.edges" "$I/X.npy" "$I/F-huge.npy" --solver krylov
refused "overflow: Z" 1 "" \
  solve --graph "$I/g.edges" --features "$I/X-huge.npy" --weight "$I/F-one.npy" --gamma 1 --out "$O/Z.npy"
good "cotangent: rows that do not fit" 1 "Y-short.npy" \
  --out "$O/Z.npy" --cotangent "$I/Y-short.npy" --grad-weight "$O/dF.npy" --grad-features "$O/dX.npy"
graph() { solve "graph: $1" 1 "$2" "$I/$2" "$I/X.npy" "$I/F.npy"; }
graph "edge past the last node, edge list" past.edges
graph "negative id" negative.edges
graph "words" words.edges
graph "a line with one number" one.edges
graph "an id beyond 64 bits" huge.edges
graph "edge past the last node, Matrix Market" past.mtx
graph "0 in a 1-based file" zero.mtx
graph "fewer entries than announced" short.mtx
graph "a size that does not fit the features" other.mtx
graph "npz without edges" no-edges.npz
graph "npz with real edges" float-edges.npz
graph "npz with three columns" three.npz
graph "torn npz" torn.npz
graph missing nothing.edges
solve "graph: a folder" 1 "a-folder" "$T/a-folder" "$I/X.npy" "$I/F.npy"
refused "graph: missing, inspect" 1 "nothing.edges" inspect --graph "$I/nothing.edges" --json

# Outputs that cannot be written -------------------------------------------------------------------------------------
: >"$T/plain"
good "output: Z below a regular file" 1 "plain" --out "$T/plain/deep/Z.npy"
good "output: Z is a folder" 1 "a-folder" --out "$T/a-folder"
refused "output: run folder below a regular file" 1 "plain" train --dataset chains --chain-length 10 --epochs 2 --out "$T/plain/run"
good "output: a second file that cannot be written takes the first along" 1 "plain" \
  --out "$O/Z.npy" --cotangent "$I/Y.npy" --grad-weight "$T/plain/dF.npy"
if [ -c /dev/full ]; then
  good "output: the disk is full" 1 "/dev/full" --out /dev/full
  check "output: /dev/full is still a device" test -c /dev/full
fi

# Training -----------------------------------------------------------------------------------------------------------
R=$T/run
run train --dataset chains --chain-length 10 --epochs 30 --out "$R" --json
done_well "train: a short chain"
cp "$T/stdout" "$T/printed.json"
check "train: the five files of a run and nothing else" test "$(ls -A "$R" | tr '\n' ' ')" = \
  "config.toml metrics.jsonl model.safetensors predictions.csv summary.json "
json "train: the keys of the summary" "$R/summary.json" '
set("dataset model solver solver_requested device dtype threads seed split epochs max_epochs best_epoch train_accuracy val_accuracy "
    "test_accuracy loss seconds_total seconds_per_epoch seconds_per_train_step preprocess_seconds peak_memory_bytes weight_change "
    "mu_start mu_end version commit".split()) <= set(j) and set(j["loss"]) == {"train", "val", "test"} and len(j["mu_end"]) == 5
and j["epochs"] == 30 == j["max_epochs"] and 0 <= j["best_epoch"] < 30'
cat >"$T/same_summary.py" <<'END'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:3])
clock = {"seconds_total", "seconds_per_epoch", "seconds_per_train_step", "preprocess_seconds", "peak_memory_bytes", "format", "digest"}
differ = [k for k in sorted(set(a) | set(b)) if k not in clock and a.get(k) != b.get(k)]
assert not differ, differ
END
check "train: --json prints summary.json" "$python" "$T/same_summary.py" "$T/printed.json" "$R/summary.json"
check "train: metrics.jsonl has one JSON object per epoch" "$python" -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [l["epoch"] for l in lines] == list(range(30)), len(lines)' "$R/metrics.jsonl"
refused "train: a folder that holds a run is left alone" 1 "run" train --dataset chains --chain-length 10 --epochs 2 --out "$R"
run train --config "$R/config.toml" --out "$T/from-config" --json
done_well "train: --config with a run's config.toml"
check "train: --config gives the same summary" "$python" "$T/same_summary.py" "$T/stdout" "$R/summary.json"
check "train: --config gives the same epochs" same_metrics "$T/from-config" "$R"
check "train: --config gives the same weights" cmp "$T/from-config/model.safetensors" "$R/model.safetensors"
run train --config "$R/config.toml" --epochs 3 --out "$T/fewer" --json
json "train: a flag beats the config file" "$T/stdout" 'j["max_epochs"] == 3'
short() { out=$1; shift; run train --dataset chains --chain-length 10 --epochs 20 --out "$out" "$@"; }
short "$T/s1" --seed 7
done_well "train: plain lines when piped"
short "$T/s2" --seed 7
check "seed: the same losses twice, default threads" same_metrics "$T/s1" "$T/s2"
short "$T/s3" --seed 7 --threads 1
short "$T/s4" --seed 7 --threads 1
check "seed: the same losses twice, one thread" same_metrics "$T/s3" "$T/s4"
short "$T/s5" --seed 8
check "seed: another one, other losses" other_metrics "$T/s1" "$T/s5"
run train --dataset chains --chain-length 100 --epochs 150 --json
json "train: chains of 100 take the direct solver to test accuracy 1" "$T/stdout" \
  'j["solver"] == "direct" and j["test_accuracy"] == 1.0 and j["solver_requested"] == "auto"'
run train --dataset karate --epochs 30 --json
json "train: karate" "$T/stdout" 'j["dataset"] == "karate" and 0 <= j["test_accuracy"] <= 1'

# Ctrl-C and --resume ------------------------------------------------------------------------------------------------
"$python" "$T/interrupt.py" "$T/long" 5 20 "$eignn" train --dataset chains --chain-length 50 --epochs 100000 --patience 100000 \
  --out "$T/long" >"$T/stdout" 2>"$T/stderr"
code=$?
cat "$T/stdout" "$T/stderr" >>"$T/everything"
check "interrupt: exit code 130" test "$code" -eq 130
check "interrupt: says how to resume" grep -qF -e "eignn train --resume $T/long" "$T/stderr"
run evaluate --checkpoint "$T/long" --json
done_well "interrupt: an unfinished run can be used"
check "interrupt: whose weights these are is said" grep -q "warning: .* is not finished: these are its best weights so far, of epoch" \
  "$T/stderr"
refused "resume: what is not --epochs" 2 "--resume" train --resume "$T/long" --lr 0.1
refused "resume: fewer epochs than it had" 2 "--epochs,give" train --resume "$T/long" --epochs 1
for length in 20 80 300; do # until the interrupt comes before the end
  rm -rf "$T/whole" "$T/halves"
  set -- train --dataset chains --chain-length $length --epochs 400 --patience 400
  "$python" "$T/interrupt.py" "$T/halves" 100 20 "$eignn" "$@" --out "$T/halves" >"$T/stdout" 2>"$T/stderr"
  code=$?
  [ "$code" -eq 0 ] || break
done
check "resume: interrupted on the way" test "$code" -eq 130
run "$@" --out "$T/whole"
done_well "resume: the uninterrupted run"
run train --resume "$T/halves" --json
done_well "resume: goes on"
check "resume: the same epochs as without the interrupt" same_metrics "$T/halves" "$T/whole"
check "resume: the same weights to the byte" cmp "$T/halves/model.safetensors" "$T/whole/model.safetensors"
check "resume: the same predictions" cmp "$T/halves/predictions.csv" "$T/whole/predictions.csv"
check "resume: the same summary" "$python" "$T/same_summary.py" "$T/halves/summary.json" "$T/whole/summary.json"
check "resume: the five files of a run and nothing else" test "$(ls -A "$T/halves" | tr '\n' ' ')" = \
  "config.toml metrics.jsonl model.safetensors predictions.csv summary.json "
refused "resume: a finished run" 1 "$T/whole" train --resume "$T/whole"
refused "resume: no such folder" 1 "$T/nowhere" train --resume "$T/nowhere"

# Checkpoints --------------------------------------------------------------------------------------------------------
# Five classes and a single epoch: an accuracy that is not 1.
run train --dataset chains --chain-length 10 --num-classes 5 --noise 0.5 --epochs 1 --out "$T/poor" --json
done_well "checkpoint: a poor model to use"
run evaluate --checkpoint "$T/poor/model.safetensors" --json
done_well "checkpoint: evaluate"
cp "$T/stdout" "$T/evaluated.json"
json "checkpoint: evaluate agrees with the summary" "$T/evaluated.json" \
  "all(abs(j[k] - json.load(open('$T/poor/summary.json'))[k]) < 1e-9 for k in ('train_accuracy', 'val_accuracy', 'test_accuracy'))"
run predict --checkpoint "$T/poor" --out "$T/p.csv"
done_well "checkpoint: predict, csv"
run predict --checkpoint "$T/poor" --out "$T/p.npy"
done_well "checkpoint: predict, npy"
check "checkpoint: the csv has evaluate's accuracies, the npy its probabilities" "$python" -c '
import csv, json, sys
import numpy as np
rows = list(csv.DictReader(open(sys.argv[1])))
said = json.load(open(sys.argv[2]))
for split in ("train", "val", "test"):
    mine = [r["predicted"] == r["label"] for r in rows if r["split"] == split]
    assert mine and abs(np.mean(mine) - said[split + "_accuracy"]) < 1e-9, (split, np.mean(mine), said)
p = np.load(sys.argv[3])
assert p.shape == (len(rows), 5) and p.dtype == np.float64, (p.shape, p.dtype)
assert np.allclose(p.sum(axis=1), 1, atol=1e-5)
assert [int(r["predicted"]) for r in rows] == p.argmax(axis=1).tolist()' "$T/p.csv" "$T/evaluated.json" "$T/p.npy"
run predict --checkpoint "$T/poor" --top 2 --out "$T/top.csv" --json
done_well "checkpoint: predict, the likeliest classes"
json "checkpoint: predict says whose graph it was and what it wrote" "$T/stdout" \
  "j['graph'] == 'the graph of the training' and j['parts']['train'] > 0 and sum(j['predicted_nodes'].values()) == j['nodes']"
check "checkpoint: two classes for each node, the first the predicted one" "$python" -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert list(rows[0]) == "node split label predicted top1 top1_p top2 top2_p".split(), list(rows[0])
assert all(r["predicted"] == r["top1"] and float(r["top1_p"]) >= float(r["top2_p"]) for r in rows)' "$T/top.csv"
refused "checkpoint: predict, likeliest classes of no number" 2 "--top" predict --checkpoint "$T/poor" --top 0 --out "$O/p.csv"
refused "checkpoint: predict, likeliest classes in an npy" 2 "--top" predict --checkpoint "$T/poor" --top 2 --out "$O/p.npy"
refused "checkpoint: predict, neighbours of a node without its features" 2 "--node,is missing" \
  predict --checkpoint "$T/poor" --neighbours 3 --out "$O/p.csv"
refused "checkpoint: predict needs a file" 2 "--out" predict --checkpoint "$T/poor"
refused "checkpoint: predict to an ending that is neither" 2 ".csv" predict --checkpoint "$T/poor" --out "$O/p.txt"
# Attacks: on a head that is linear, and on the chains', which is not.
run train --dataset karate --head plain --epochs 20 --epsilon 1 --out "$T/club"
done_well "attack: a linear model to attack"
run attack --checkpoint "$T/club" --method pgd --epsilon 0 --epsilon 0.05 --step 0.01 --steps 9 --out "$T/attacked.csv" --json
done_well "attack: pgd, two sizes"
json "attack: the keys, and a certificate below what is left" "$T/stdout" \
  "set('checkpoint dataset model solver split method targets objective linear nodes right clean_accuracy attacks seed version commit'.split()) <= set(j)
and j['linear'] is True and [a['epsilon'] for a in j['attacks']] == [0, 0.05] and j['attacks'][0]['accuracy'] == j['clean_accuracy']
and all(a['certified_accuracy'] <= a['accuracy'] <= j['clean_accuracy'] and a['kept'] + a['lost'] == j['right'] and a['steps'] == 9
        and a['largest_change'] <= a['epsilon'] for a in j['attacks'])"
check "attack: the csv has a row per test node and size" "$python" -c '
import csv, json, sys
rows, j = list(csv.DictReader(open(sys.argv[1]))), json.load(open(sys.argv[2]))
assert len(rows) == 2 * j["nodes"], len(rows)
after = [r for r in rows if float(r["epsilon"]) == 0.05 and r["label"] == r["predicted"] == r["predicted_under_attack"]]
assert len(after) == j["attacks"][1]["kept"]
assert all(float(r["margin_bound"]) <= float(r["margin_under_attack"]) + 1e-5 for r in rows if r["label"] == r["predicted"])
assert sum(float(r["certified_radius"]) > 0.05 for r in rows) == 2 * j["attacks"][1]["certified"]' "$T/attacked.csv" "$T/stdout"
run predict --checkpoint "$T/club" --out "$T/club.csv"
check "attack: its --epsilon is not the model's" "$python" -c '
import csv, math, sys
p = {r["node"]: [math.log(float(r[k])) for k in ("p0", "p1")] for r in csv.DictReader(open(sys.argv[1]))}
for r in csv.DictReader(open(sys.argv[2])):
    y = int(r["label"])
    assert abs(p[r["node"]][y] - p[r["node"]][1 - y] - float(r["margin"])) < 1e-3, r' "$T/club.csv" "$T/attacked.csv"
run attack --checkpoint "$T/poor" --method noise --epsilon 0.1 --targets all --json
json "attack: noise on a model that is not linear has no certificate" "$T/stdout" \
  "j['linear'] is False and j['attacks'][0]['certified_accuracy'] is None and j['noise_seed'] == 0 and j['objective'] is None"
run attack --checkpoint "$T/club" --method fgsm --epsilon 0.01
check "attack: its table" grep -q '^fgsm  *0.01  *[0-9.]* %  *[0-9]* of [0-9]*  *[0-9.]* %' "$T/stdout"
refused "attack: no such method" 2 "--method,did you mean fgsm" attack --checkpoint "$T/club" --method fgms --epsilon 0.1
refused "attack: a size below 0" 2 "--epsilon" attack --checkpoint "$T/club" --method fgsm --epsilon=-0.1
refused "attack: steps without pgd" 2 "--steps,--method pgd" attack --checkpoint "$T/club" --method fgsm --epsilon 0.1 --steps 3
refused "attack: no size" 2 "--epsilon" attack --checkpoint "$T/club" --method fgsm
refused "attack: no such targets" 2 "--targets,did you mean each" attack --checkpoint "$T/club" --method fgsm --epsilon 0.1 --targets eech
refused "attack: no checkpoint there" 1 "nowhere" attack --checkpoint "$T/nowhere" --method fgsm --epsilon 0.1 --out "$O/a.csv"
refused "attack: another feature width" 1 "100,50" attack --checkpoint "$R" --feature-dim 50 --method fgsm --epsilon 0.1
refused "attack: a csv that cannot be written" 1 "plain" \
  attack --checkpoint "$T/club" --method fgsm --epsilon 0.1 --out "$T/plain/a.csv"
# Explanations: exact on the linear head, a gradient on GCN.
run explain --checkpoint "$T/club" --node 9 --top 0 --dtype float64 --json
done_well "explain: a node"
json "explain: the parts add up to the score" "$T/stdout" \
  "set('checkpoint dataset model solver node class predicted score constant kind exact features_exact units exponent sum remainder nodes features by_hop seconds version commit'.split()) <= set(j)
and j['exact'] and j['features_exact'] and j['kind'] == 'exact' and j['units'] == 'model' and j['exponent'] == 0 and j['predicted']
and abs(j['constant'] + sum(n['contribution'] for n in j['nodes']) - j['score']) < 1e-12
and abs(sum(n['contribution'] for n in j['nodes']) - sum(f['contribution'] for f in j['features'])) < 1e-12
and len(j['nodes']) == 34 and sum(h['nodes'] for h in j['by_hop']) == 34 and [n for n in j['nodes'] if n['hops'] == 0][0]['node'] == 9"
run explain --checkpoint "$T/club" --node 9 --class 0 --top 3 --out "$T/why.csv"
check "explain: its table" grep -Eq '^31 others' "$T/stdout"
check "explain: the csv has all nodes and features" "$python" -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [sum(r["part"] == p for r in rows) for p in ("constant", "node", "feature")] == [1, 34, 34]' "$T/why.csv"
run explain --checkpoint "$T/club" --node 9 --top 5 --out "$T/why.dot"
check "explain: the picture" grep -q 'n9 .*penwidth=3' "$T/why.dot"
run explain --checkpoint "$T/club" --node 9 --top 5 --out "$T/why.graphml"
check "explain: the GraphML is XML" "$python" -c '
import sys, xml.etree.ElementTree as tree
g = "{http://graphml.graphdrawing.org/xmlns}"
graph = tree.parse(sys.argv[1]).getroot().find(g + "graph")
assert len(graph.findall(g + "node")) >= 5 and graph.findall(g + "edge")' "$T/why.graphml"
run explain --checkpoint "$T/club" --node 9 --edges --top 12 --dtype float64 --json
json "explain: edges, the ten largest by a solve" "$T/stdout" \
  "j['count'] == 78 and len(j['edges']) == 12 and [e['change'] is None for e in j['edges']] == [False] * 10 + [True] * 2 and not j['directed']"
run train --dataset karate --model gcn --epochs 5 --out "$T/club-gcn"
run explain --checkpoint "$T/club" --influence --beside "$T/club-gcn" --sample 9 --out "$T/far.csv" --json
json "explain: EIGNN hears farther than GCN" "$T/stdout" \
  "[r['sample'] for r in j['runs']] == [9, 9] and j['runs'][0]['by_hop'][3]['share'] > 1e-6 and j['runs'][1]['by_hop'][2]['cumulative'] > 0.999999"
run explain --checkpoint "$T/club-gcn" --node 9 --json
json "explain: a GCN's contributions are first-order" "$T/stdout" \
  "j['kind'] == 'first-order' and not j['exact'] and abs(j['sum'] + j['remainder'] - j['score']) < 1e-6"
refused "explain: no such node" 2 "--node,34" explain --checkpoint "$T/club" --node 34 --out "$O/why.csv"
refused "explain: a node that is no number" 2 "--node,alice" explain --checkpoint "$T/club" --node alice --out "$O/why.csv"
refused "explain: no such class" 2 "--class,spam" explain --checkpoint "$T/club" --node 3 --class spam --out "$O/why.csv"
refused "explain: no node named" 2 "--node" explain --checkpoint "$T/club"
refused "explain: no checkpoint" 2 "--checkpoint" explain --node 3
refused "explain: no checkpoint there" 1 "nowhere" explain --checkpoint "$T/nowhere" --node 3 --out "$O/why.csv"
refused "explain: an ending that says nothing" 2 ".graphml" explain --checkpoint "$T/club" --node 3 --out "$O/why.txt"
refused "explain: influence is not of one node" 2 "--node,--influence" explain --checkpoint "$T/club" --influence --node 3
refused "explain: a sample of one score" 2 "--sample,--influence" explain --checkpoint "$T/club" --node 3 --sample 9
refused "explain: an empty sample" 2 "--sample" explain --checkpoint "$T/club" --influence --sample 0
refused "explain: less than no rows" 2 "--top" explain --checkpoint "$T/club" --node 3 --top=-1
refused "explain: edges of a GCN" 2 "eignn" explain --checkpoint "$T/club-gcn" --node 3 --edges
refused "explain: a csv that cannot be written" 1 "plain" explain --checkpoint "$T/club" --node 3 --out "$T/plain/a.csv"
# The report page: what it takes and refuses (page.test.mjs opens it in a browser).
run report "$T/club" "$T/club-gcn" --node 9 --out "$T/page.html" --json
json "report: a page of two runs" "$T/stdout" \
  "j['runs'] == 2 and j['graphs'] == 1 and j['explanations'] == 1 and j['not_shown'] == [] and j['bytes'] > 50000"
check "report: one file that asks for nothing" grep -q "default-src 'none'" "$T/page.html"
"$eignn" explain --checkpoint "$T/club" --node 3 --json >"$T/in/why.json"
"$eignn" attack --checkpoint "$T/club" --method fgsm --epsilon 0.1 --json >"$T/in/attack.json"
run report "$T/in/why.json" "$T/in/attack.json" --out "$T/page.html"
check "report: what other commands print" grep -q '^0 runs, 2 files of results: ' "$T/stdout"
cp "$T/page.html" "$T/before.html"
printf '{"experiment": ' >"$T/in/torn.json"
printf '{"a": 1}' >"$T/in/other.json"
refused "report: nothing named" 2 "report" report
refused "report: no such folder" 1 "nowhere" report "$T/nowhere" --out "$T/page.html"
refused "report: a folder without anything" 1 "a-folder" report "$T/a-folder" --out "$T/page.html"
refused "report: damaged JSON" 1 "torn.json" report "$T/in/torn.json" --out "$T/page.html"
refused "report: JSON of something else" 1 "other.json" report "$T/in/other.json" --out "$T/page.html"
refused "report: no such node" 2 "--node,34" report "$T/club" --node 34 --out "$T/page.html"
refused "report: no model to explain by" 2 "--node" report "$T/in/why.json" --node 3 --out "$T/page.html"
refused "report: flags that exclude each other" 2 "--no-graphs,--node" report "$T/club" --node 3 --no-graphs
refused "report: a place that cannot be written" 1 "plain" report "$T/club" --out "$T/plain/page.html"
check "report: a refusal leaves an older page as it was" cmp "$T/page.html" "$T/before.html"
refused "checkpoint: another feature width, evaluate" 1 "100,50" evaluate --checkpoint "$R" --feature-dim 50
refused "checkpoint: another feature width, predict" 1 "100,50" predict --checkpoint "$R" --feature-dim 50 --out "$O/p.csv"
"$python" - "$R/model.safetensors" "$T" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
flipped = bytearray(data)
for k in range(8, 28):
    flipped[k] ^= 0x55
length = bytearray(data)
length[5] ^= 0xFF  # the header would be longer than the file
for name, content in (("flipped", flipped), ("length", length), ("torn", data[:len(data) // 2]), ("hollow", b"")):
    open("%s/%s.safetensors" % (sys.argv[2], name), "wb").write(content)
END
for damage in flipped length torn hollow; do
  refused "checkpoint: $damage, evaluate" 1 "$damage.safetensors" evaluate --checkpoint "$T/$damage.safetensors"
done
for damage in flipped torn; do
  refused "checkpoint: $damage, predict" 1 "$damage.safetensors" predict --checkpoint "$T/$damage.safetensors" --out "$O/p.csv"
  refused "checkpoint: $damage, inspect" 1 "$damage.safetensors" inspect --checkpoint "$T/$damage.safetensors"
done
# Settings that do nothing beside the others are named in one warning.
run train --dataset karate --head plain --width 8 --hidden 9 --chain-length 30 --label x --epochs 2 --json
done_well "without effect: trains all the same"
check "without effect: one warning" test "$(grep -c "without effect" "$T/stderr")" -eq 1
for setting in width hidden chain-length label; do
  check "without effect: $setting is named" grep -q "warning: without effect.* $setting (" "$T/stderr"
done
run train --dataset karate --head residual --width 8 --epochs 2 --json
check "without effect: nothing to say" test "$(grep -c "without effect" "$T/stderr")" -eq 0
# What needs no tensor is refused before the engine is loaded.
without_engine() { # without_engine NAME ARGUMENTS...
  name=$1
  shift
  LD_DEBUG=files LD_DEBUG_OUTPUT=$T/loaded "$eignn" "$@" >/dev/null 2>"$T/why" </dev/null
  if grep -q "libeignn-engine\|libtorch" "$T"/loaded.*; then fail "$name: without the engine" "it was loaded"; else ok "$name: without the engine"; fi
  rm -f "$T"/loaded.*
}
mkdir "$T/no-run"
refused "checkpoint: a folder without a run" 1 "$T/no-run/model.safetensors" evaluate --checkpoint "$T/no-run"
refused "train --search: no such file" 1 "$T/nofile.toml" train --search "$T/nofile.toml"
for command in "evaluate --checkpoint" "predict --out $T/p.csv --checkpoint" "attack --method fgsm --epsilon 0.1 --checkpoint" \
  "explain --node 3 --checkpoint" "inspect --checkpoint" "train --search"; do
  # shellcheck disable=SC2086
  without_engine "$command: no such file" $command "$T/nowhere"
done
without_engine "checkpoint: a folder without a run" evaluate --checkpoint "$T/no-run"
refused "checkpoint: missing" 1 "nothing.safetensors" evaluate --checkpoint "$T/nothing.safetensors"

# The other models ---------------------------------------------------------------------------------------------------
models=$("$eignn" train --help | tr '\n' ' ' | sed 's/ --head.*//; s/.*--model //; s/.*(eignn, //; s/).*//; s/,/ /g')
for model in $models; do
  M=$T/model-$model
  run train --dataset karate --model "$model" --epochs 15 --out "$M" --json
  json "$model: trains" "$T/stdout" "j['model'] == '$model' and j['epochs'] == 15 and 'mu_end' not in j
    and ('non_converged_solves' in j) == ('$model' == 'ignn')"
  run evaluate --checkpoint "$M" --json
  cp "$T/stdout" "$T/evaluated.json"
  check "$model: evaluate says what the run said" "$python" -c '
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert a["test_accuracy"] == b["test_accuracy"] and a["loss"] == b["loss"], (a["loss"], b["loss"])' "$T/evaluated.json" "$M/summary.json"
  run predict --checkpoint "$M" --out "$T/predicted.csv"
  check "$model: predict writes the run's predictions" cmp "$T/predicted.csv" "$M/predictions.csv"
done
check "models: the help names them all" test "$(echo $models | wc -w)" -eq 14
refused "models: the nearest name" 2 "--model,did you mean gcnii?" train --dataset karate --model gcnit
run train --dataset karate --model gcn --recipe texas --epochs 3 --out "$T/recipe" --json
json "recipes: one by name holds for other data" "$T/stdout" \
  "j['dataset'] == 'karate' and j['config']['lr'] == 0.05 and j['config']['stopping'] == 'either' and j['max_epochs'] == 3"
refused "recipes: the nearest name" 2 "--recipe,did you mean texas?" train --dataset karate --recipe texs --out "$O/run"
refused "models: a bound that holds nothing" 2 "--kappa" train --dataset karate --model ignn --kappa 0 --out "$O/run"
refused "models: too many rounds" 2 "--layers" train --dataset karate --model h2gcn --layers 40 --out "$O/run"
refused "models: a head of another model" 2 "--head" train --dataset karate --model ignn --head residual --out "$O/run"
run train --dataset karate --model ignn --max-iterations 2 --epochs 3
check "ignn: solves that stop short are told" grep -q "warning: [1-9][0-9]* solves stopped short" "$T/stderr"
for length in 20 80 300; do # until the interrupt comes before the end
  rm -rf "$T/whole" "$T/halves"
  set -- train --dataset chains --model ignn --chain-length $length --epochs 60 --patience 60 --max-iterations 5
  "$python" "$T/interrupt.py" "$T/halves" 15 20 "$eignn" "$@" --out "$T/halves" >"$T/stdout" 2>"$T/stderr"
  code=$?
  [ "$code" -eq 0 ] || break
done
check "ignn: interrupted on the way" test "$code" -eq 130
run "$@" --out "$T/whole"
run train --resume "$T/halves" --json
check "ignn: resumed, the same weights to the byte" cmp "$T/halves/model.safetensors" "$T/whole/model.safetensors"
check "ignn: resumed, the same count of solves that stopped short" "$python" "$T/same_summary.py" "$T/halves/summary.json" \
  "$T/whole/summary.json"

# The spectrum cache -------------------------------------------------------------------------------------------------
EIGNN_CACHE=$T/own-cache # training may have filled the other one
sixty() { # sixty OUT: a graph large enough for the cache
  run solve --graph "$I/sixty.edges" --features "$I/sixty-X.npy" --weight "$I/F.npy" --solver spectral --out "$T/$1" --json
}
sixty Z1.npy
done_well "cache: the first solve"
spectrum=$(find "$EIGNN_CACHE/spectra" -type f 2>/dev/null | head -n 1)
check "cache: one file under EIGNN_CACHE/spectra" test -n "$spectrum"
sixty Z2.npy
check "cache: the second solve gives the same" cmp "$T/Z1.npy" "$T/Z2.npy"
check "cache: and has nothing to say" test ! -s "$T/stderr"
for damage in header numbers half nothing; do
  "$python" - "$spectrum" $damage <<'END'
import sys
name, damage = sys.argv[1:]
data = bytearray(open(name, "rb").read())
if damage == "header":
    data[20:40] = b"\x00" * 20
elif damage == "numbers":
    data[len(data) // 2] ^= 0x7F  # somewhere inside an eigenvector
    data[len(data) // 2 + 7] ^= 0x10
elif damage == "half":
    data = data[:len(data) // 2]
else:
    data = b""
open(name, "wb").write(data)
END
  sixty "Z-$damage.npy"
  check "cache: damaged ($damage), the result is the same" cmp "$T/Z1.npy" "$T/Z-$damage.npy"
  check "cache: damaged ($damage), one warning" grep -q '^eignn: warning: ' "$T/stderr"
  check "cache: damaged ($damage), and no other line" test "$(wc -l <"$T/stderr")" -eq 1
done
sixty Z3.npy
check "cache: rebuilt, the warning is gone" test ! -s "$T/stderr"
check "cache: no temporary left" test "$(find "$EIGNN_CACHE" -type f | wc -l)" -eq 1

# inspect ------------------------------------------------------------------------------------------------------------
graph_keys='set("nodes arcs_in_file arcs loops undirected_edges components isolated spectrum planner warnings".split()) <= set(j)
and set(j["spectrum"]) == {"min", "max"} and set(j["planner"]) >= {"solver", "reason"} and isinstance(j["warnings"], list)'
data_keys='set("features classes class_counts edge_homophily node_homophily duplicate_nodes splits".split()) <= set(j)
and set(j["splits"][0]) == {"train", "val", "test"}'
run inspect --dataset chains --json
json "inspect: chains" "$T/stdout" "$graph_keys and $data_keys and j['recipe'] == 'eignn/chains-binary' and 'why_recipe' not in j and j['nodes'] == 4000 and j['components'] == 40 and j['undirected_edges'] == 3960
and j['splits'] == [{'train': 200, 'val': 400, 'test': 3400}] and j['planner']['solver'] == 'direct'"
run inspect --dataset karate --json
json "inspect: karate" "$T/stdout" "$graph_keys and $data_keys and j['nodes'] == 34 and j['undirected_edges'] == 78 and j['components'] == 1"
run inspect --graph "$I/counts.mtx" --json
json "inspect: a graph with a loop, a duplicate and isolated nodes" "$T/stdout" "$graph_keys and j['nodes'] == 6 and j['arcs_in_file'] == 5
and j['arcs'] == 4 and j['loops'] == 1 and j['undirected_edges'] == 2 and j['components'] == 4 and j['isolated'] == 2"
run inspect --checkpoint "$R/model.safetensors" --json
json "inspect: a checkpoint" "$T/stdout" 'j["features"] == 100 and j["classes"] == 2'
refused "inspect: a graph and a data set exclude each other" 2 "--graph" inspect --graph "$I/g.edges" --dataset karate

# Data sets ----------------------------------------------------------------------------------------------------------
D=$T/in/rings # three rings of eight nodes, two classes, gaps, two splits
mkdir "$D"
"$python" - "$D" <<'END'
import sys
d, n = sys.argv[1], 24
ring = lambda v: v // 8
open(d + "/edges.csv", "w").write("source,target\n" + "".join(f"{v},{ring(v) * 8 + (v + 1) % 8}\n" for v in range(n)))
open(d + "/features.csv", "w").write("id,a,b\n" + "".join(f"{v},{1 + v % 3},{5 if ring(v) == 1 else 0}\n" for v in range(n)))
open(d + "/labels.csv", "w").write("id,label\n" + "".join(f"{v},{int(ring(v) == 1)}\n" for v in range(n) if v % 8 != 7))
part = lambda v, k: ("train", "train", "val", "test")[(v + k) % 4]
open(d + "/splits.csv", "w").write("id,split0,split1\n" + "".join(f"{v},{part(v, 0)},{part(v, 1)}\n" for v in range(n)))
END
run inspect --dataset "$D" --json
json "data: one's own graph is counted" "$T/stdout" "$graph_keys and $data_keys and j['nodes'] == 24 and j['undirected_edges'] == 24
and j['components'] == 3 and j['unknown_labels'] == 3 and len(j['splits']) == 2 and any('no known label' in w for w in j['warnings'])
and j['recipe'] == 'eignn/own' and 'training nodes are few' in j['why_recipe']"
cp "$T/stdout" "$T/before.json"
run convert --dataset "$D" --out "$T/out/rings.npz"
done_well "convert: to .npz"
run convert --dataset "$T/out/rings.npz" --out "$T/out/rings-folder"
done_well "convert: to a folder of .npy"
run inspect --dataset "$T/out/rings-folder" --json
json "convert: there and back again, the same set" "$T/stdout" \
  "all(j[k] == v for k, v in json.load(open('$T/before.json')).items() if k not in ('dataset', 'format'))"
run convert --dataset "$D" --shards 3 --memory 1M --out "$T/out/rings-shards" --json
json "convert: in shards" "$T/stdout" "j['shards'] == 3 and j['arcs'] == 24 and not j['symmetric']"
run inspect --dataset "$T/out/rings-shards" --json
json "convert: in shards, the same set" "$T/stdout" \
  "all(j[k] == v for k, v in json.load(open('$T/before.json')).items() if k not in ('dataset', 'format'))"
run train --dataset "$D" --epochs 5 --out "$T/out/t-files" --json
cp "$T/stdout" "$T/files.json"
run train --dataset "$T/out/rings-shards" --epochs 5 --out "$T/out/t-shards" --json
json "train: on shards, the same result" "$T/stdout" "j['loss'] == json.load(open('$T/files.json'))['loss']"
rm -rf "$T/out"; mkdir "$T/out"
light="--head plain --encoder 0 --solver sparse --epochs 5"
run train --dataset "$D" $light --out "$T/out/t-free" --json
cp "$T/stdout" "$T/free.json"
run train --dataset "$D" $light --memory 900G --out "$T/out/t-limited" --json
json "train --memory: the same result" "$T/stdout" "j['loss'] == json.load(open('$T/free.json'))['loss']"
rm -rf "$T/out"; mkdir "$T/out"
run train --dataset "$D" $light --memory 1M
check "train --memory: too little, exit code 1" test "$code" -eq 1
check "train --memory: too little, in one line" grep -q '^eignn: error: .* needs .*M beside the .*, and the limit is 1M (.*); give ' "$T/stderr"
rm -rf "$T/out"; mkdir "$T/out"
refused "train --memory: no amount" 2 "'lots' is no amount,--memory" train --dataset "$D" --memory lots
refused "train --memory: a solver that does not keep it" 2 "--memory" train --dataset "$D" --solver direct --memory 8G
refused "train --memory: a model that does not keep it" 2 "--memory" train --dataset "$D" --model gcn --memory 8G
refused "convert: no shards" 2 "--shards" convert --dataset "$D" --shards 0 --out "$T/out/x"
refused "convert: more shards than nodes" 2 "25 shards" convert --dataset "$D" --shards 25 --out "$T/out/x"
refused "convert: memory without shards" 2 "--memory" convert --dataset "$D" --memory 1G --out "$T/out/x"
refused "convert: memory that is none" 2 "'lots' is no amount" convert --dataset "$D" --shards 2 --memory lots --out "$T/out/x"
refused "convert: too little memory" 2 "bytes are too few" convert --dataset "$D" --shards 2 --memory 1K --out "$T/out/x"
refused "convert: shards in an archive" 2 "--out" convert --dataset "$D" --shards 2 --out "$T/out/x.npz"
refused "convert: a folder that is there already" 1 "a-folder" convert --dataset "$D" --out "$T/a-folder"
refused "convert: nothing to convert" 2 "--dataset" convert --out "$T/out/x.npz"
refused "convert: features without a graph" 2 "--graph" convert --features "$D/features.csv" --labels "$D/labels.csv" --out "$T/out/x.npz"
refused "convert: a path that is not there" 1 "$T/nowhere" convert --dataset "$T/nowhere" --out "$T/out/x.npz"
refused "data: a folder that is no data set" 1 "$T/a-folder" inspect --dataset "$T/a-folder"
refused "data: a public set that is not here" 1 "eignn fetch texas" train --dataset texas
refused "data: a name that is none, and the nearest" 2 "wisconsn,wisconsin" train --dataset wisconsn
cp -r "$D" "$I/negative"
printf 'a,b\n' >"$I/negative/features.csv"
"$python" -c 'print("1,-1\n" * 24, end="")' >>"$I/negative/features.csv"
refused "train: row sums of negative features" 1 "negative" train --dataset "$I/negative" --feature-norm row

run train --dataset "$D" --split all --epochs 20 --out "$T/all" --json
json "train --split all: both runs and their mean" "$T/stdout" \
  "len(j['runs']) == 2 and abs(j['test_accuracy_mean'] - sum(r['test_accuracy'] for r in j['runs']) / 2) < 1e-12 and 'test_accuracy_ci95' in j"
cp "$T/stdout" "$T/all.json"
rm -rf "$T/all/split-1"
run train --resume "$T/all" --json
json "train --resume: a set of splits is completed to the same result" "$T/stdout" \
  "j['test_accuracy_mean'] == json.load(open('$T/all.json'))['test_accuracy_mean'] and j['runs'][1]['loss'] == json.load(open('$T/all.json'))['runs'][1]['loss']"
rm "$T/all/split-1/summary.json"
run train --resume "$T/all" --json
json "train --resume: a run that was killed before its summary is run again" "$T/stdout" \
  "j['test_accuracy_mean'] == json.load(open('$T/all.json'))['test_accuracy_mean']"
refused "train --split all: another setting in the same folder" 1 "$T/all" train --dataset "$D" --split all --epochs 21 --out "$T/all"
refused "train: a split that is not there" 2 "2 splits" train --dataset "$D" --split 2
refused "predict: a folder of several runs" 1 "$T/all,split-0" predict --checkpoint "$T/all" --out "$T/out/p.csv"
run predict --checkpoint "$T/all/split-0" --out "$T/gaps.csv"
check "predict: a class for every gap" sh -c 'test "$(grep -c "^[0-9]*,none,,[01]," "$1")" -eq 3' sh "$T/gaps.csv"

# A model that is used on data that were moved, on more nodes, and on one that is described.
cp -r "$D" "$T/moving"
run train --dataset "$T/moving" --epochs 30 --out "$T/own"
done_well "own data: a model to use"
mv "$T/moving" "$T/moved"
mv "$T/own" "$T/own-elsewhere"
refused "own data: gone" 2 "--dataset,moving" predict --checkpoint "$T/own-elsewhere" --out "$O/p.csv"
run predict --checkpoint "$T/own-elsewhere" --dataset "$T/moved" --out "$T/own.csv"
done_well "own data: renamed, and the run's folder too"
check "own data: the same predictions, and the parts of the training" cmp "$T/own.csv" "$T/own-elsewhere/predictions.csv"
check "own data: whose graph it is" grep -q "(the graph of the training)" "$T/stdout"
# What a batch can train: the paper's model, not the defaults of own data.
paper="--head plain --encoder 0 --equilibria 1 --intercept off --feature-norm none --dropout 0"
printf '24,1,5\n' >>"$T/moved/features.csv"
printf '24,7\n' >>"$T/moved/edges.csv"
rm "$T/moved/splits.csv"
run predict --checkpoint "$T/own-elsewhere" --dataset "$T/moved" --out "$T/more.csv"
done_well "own data: a node more"
check "own data: the parts of the training, and the new node in none" "$python" -c '
import csv, sys
before, after = ([r["split"] for r in csv.DictReader(open(name))] for name in sys.argv[1:])
assert after == before + ["none"], after' "$T/own.csv" "$T/more.csv"
check "own data: how many are new is said" grep -q "with 1 node more" "$T/stdout"
run predict --checkpoint "$T/own-elsewhere" --dataset "$D" --node 0=1,1=5 --neighbours 7 --json
done_well "own data: a node described on the command line"
json "own data: it is the one that was added to the files" "$T/stdout" "j['node'] == '24' and len(j['probabilities']) == 2
  and j['predicted'] == [r['predicted'] for r in __import__('csv').DictReader(open('$T/more.csv'))][24]
  and abs(sum(p['probability'] for p in j['probabilities']) - 1) < 1e-6"
refused "own data: a feature that is missing" 2 "--node,'1' is missing" \
  predict --checkpoint "$T/own-elsewhere" --dataset "$D" --node 0=1
refused "own data: a neighbour that is none" 2 "--neighbours,'99'" \
  predict --checkpoint "$T/own-elsewhere" --dataset "$D" --node 0=1,1=5 --neighbours 99
run evaluate --checkpoint "$T/own-elsewhere" --dataset karate
check "own data: another width is refused" test "$code" -eq 1

cp -r "$D" "$I/rings #1 \"ü\""
run train --dataset "$I/rings #1 \"ü\"" --epochs 3 --out "$T/hash" --json
cp "$T/stdout" "$T/hash.json"
run train --config "$T/hash/config.toml" --json
check "train --config: any path" "$python" "$T/same_summary.py" "$T/stdout" "$T/hash.json"
printf 'lr = 0.1\nepochs = ten\n' >"$T/bad.toml"
refused "train --config: what is no TOML" 1 "$T/bad.toml,line 2" train --dataset "$D" $paper --config "$T/bad.toml"
printf 'format = 2\nlr = 0.1\n' >"$T/bad.toml"
refused "train --config: of a later format" 1 "$T/bad.toml,format 2" train --dataset "$D" $paper --config "$T/bad.toml"
printf 'lr = [0.01, 0.1]\ngamma = [0.8, 1.0]\nepochs = 10\n' >"$T/grid.toml"
run train --dataset "$D" $paper --search "$T/grid.toml" --out "$T/search" --jobs 2 --threads 1 --json
json "train --search: four trials, one chosen, by validation" "$T/stdout" \
  "len(j['trials']) == 4 and sum(t['chosen'] for t in j['trials']) == 1 and max(t['val_mean'] for t in j['trials']) == [t['val_mean'] for t in j['trials'] if t['chosen']][0]"
check "train --search: its record and its choice" test -s "$T/search/trials.json" -a -s "$T/search/best.toml"
printf 'learning-rate = [1, 2]\n' >"$T/bad.toml"
refused "train --search: a setting that is none" 1 "$T/bad.toml,learning-rate" train --dataset "$D" $paper --search "$T/bad.toml"
run train --dataset "$D" --search auto --trials 4 --epochs 8 --threads 1 --out "$T/auto" --json
done_well "train --search auto: exit code 0"
json "train --search auto: four candidates, one chosen, all splits tested" "$T/stdout" \
  "len(j['trials']) == 4 and sum(t['chosen'] for t in j['trials']) == 1 and len(j['runs']) == 2 and all(t['rungs'][0]['epochs'] == 8 for t in j['trials'])"
cp "$T/stdout" "$T/auto.json"
run predict --checkpoint "$T/auto/best/split-0" --dataset "$D" --out "$T/auto.csv"
done_well "train --search auto: the winner's folder predicts"
run train --dataset "$D" --search auto --trials 4 --epochs 8 --threads 1 --out "$T/auto" --json
check "train --search auto: the same command reads what is there" cmp "$T/stdout" "$T/auto.json"
run train --config "$T/auto/best.toml" --split 1 --json
check "train --search auto: best.toml trains the same again" "$python" -c '
import json, sys
a, b = (json.load(open(p)) for p in sys.argv[1:])
assert [r for r in a["runs"] if r["split"] == 1][0]["test_accuracy"] == b["test_accuracy"]' "$T/auto.json" "$T/stdout"
run train --dataset "$D" --search auto --trials 3 --models gcn,mlp --epochs 5 --threads 1
done_well "train --search auto: other models, for people"
check "train --search auto: a table with the chosen one" grep -q "chosen" "$T/stdout"
refused "train --search auto: a budget of nothing" 2 "--budget,0m" train --dataset "$D" --search auto --budget 0m
refused "train --search auto: a budget that is no time" 2 "--budget,soon" train --dataset "$D" --search auto --budget soon
refused "train --search auto: a budget and trials" 2 "--trials" train --dataset "$D" --search auto --budget 1m --trials 3
refused "train --search auto: no such model" 2 "--models,gnc,did you mean gcn" train --dataset "$D" --search auto --models gnc
refused "train --search auto: a setting that no model reads" 2 "--gamma" train --dataset "$D" --search auto --models gcn,mlp --gamma 0.5
refused "train --search auto: more splits than there are" 2 "--splits" train --dataset "$D" --search auto --splits 3 --trials 2
refused "train --search auto: with jobs" 2 "--jobs" train --dataset "$D" --search auto --jobs 2 --out "$T/out/x"
refused "train: a budget without a search" 2 "--budget,--search auto" train --dataset "$D" --budget 1m
refused_late "truncated: more eigenpairs than nodes" 2 "--eigenpairs,34 nodes,35" train --dataset karate --solver truncated --eigenpairs 35
refused_late "truncated: a directed graph" 2 "--solver" train --dataset chains --direction in --solver truncated
refused "truncated: a negative number of eigenpairs" 2 "--eigenpairs" train --dataset karate --solver truncated --eigenpairs -1
refused "partition: more parts than nodes" 2 "--partition,34 nodes,35" train --dataset karate --partition 35
refused "coarsen: a share of 0" 2 "--coarsen" train --dataset karate --coarsen 0
refused "coarsen: a share above 1" 2 "--coarsen" train --dataset karate --coarsen 1.5
refused "partition: with coarsen" 2 "--coarsen" train --dataset karate --partition 2 --coarsen 0.5
run train --dataset karate --solver truncated --eigenpairs 8 --epochs 5 --out "$T/truncated"
check "truncated: train prints its bound" grep -q "truncated to 8 eigenpairs of S: |λ| of the next is 0\.[0-9]*, and ‖Z - Z exact‖ is at most" "$T/stdout"
json "truncated: the summary has the bound" "$T/truncated/summary.json" \
  'j["solver"] == "truncated" and j["error_bound"]["eigenpairs"] == 8 and 0 < j["error_bound"]["next_eigenvalue"] < 1 and j["error_bound"]["bound"] > 0'
run evaluate --checkpoint "$T/truncated"
check "truncated: evaluate prints the bound" grep -q "truncated to 8 eigenpairs" "$T/stdout"
run evaluate --checkpoint "$T/truncated" --solver spectral --json
json "truncated: the same weights with another solver" "$T/stdout" 'j["solver"] == "spectral" and "error_bound" not in j'
run inspect --dataset karate --solver truncated --eigenpairs 8
check "truncated: inspect prints what is left out" grep -q "truncated to 8 eigenpairs of S: .*; whatever F, " "$T/stdout"
run solve --graph "$I/g.edges" --features "$I/X.npy" --weight "$I/F.npy" --solver truncated --eigenpairs 2 --out "$T/Zk.npy" --json
json "truncated: solve has the bound" "$T/stdout" 'j["solver"] == "truncated" and j["error_bound"]["eigenpairs"] == 2'
run train --dataset chains --chain-length 10 --partition 4 --epochs 5 --out "$T/parts"
check "partition: train prints what it drops" grep -q "partition: 4 parts of 100 nodes; 0 of 360 edges join two parts and are dropped, 0.0 % of the weight" "$T/stdout"
run predict --checkpoint "$T/parts" --out "$T/parts.csv"
check "partition: predict does the same" cmp "$T/parts.csv" "$T/parts/predictions.csv"
run evaluate --checkpoint "$T/parts" --json
json "partition: evaluate says so" "$T/stdout" 'j["reduction"]["kind"] == "partition" and j["reduction"]["groups"] == 4'
run evaluate --checkpoint "$T/parts" --partition 0 --json
json "partition: evaluate puts the edges back" "$T/stdout" '"reduction" not in j'
run train --dataset karate --coarsen 0.5 --epochs 5 --out "$T/coarse"
check "coarsen: train prints what it merges" grep -q "coarsen: 17 clusters of 1 to [0-9]* nodes; [0-9]* of 78 edges lie within one" "$T/stdout"
run predict --checkpoint "$T/coarse" --out "$T/coarse.csv"
check "coarsen: predict does the same" cmp "$T/coarse.csv" "$T/coarse/predictions.csv"
run inspect --dataset karate --coarsen 0.5
check "coarsen: inspect says so" grep -q "coarsen: 17 clusters" "$T/stdout"
refused "coarsen: no explanation of a cluster's node" 2 "--coarsen" explain --checkpoint "$T/coarse" --node 3
refused_late "train: a list of directions and a solver in the eigenbasis" 2 "spectral" train --dataset "$D" --direction in,out --solver spectral
run train --dataset "$D" --label-inputs on --encoder 8 --norm batch --epochs 10 --out "$T/labels" --json
done_well "train --label-inputs"
run predict --checkpoint "$T/labels" --out "$T/labels.csv"
done_well "predict: a model that reads labels"
check "predict: the labels are those of the training" "$python" -c '
import sys
a, b = ({l.rsplit(",", 2)[0] for l in open(p)} for p in sys.argv[1:])
assert a == b, a ^ b' "$T/labels.csv" "$T/labels/predictions.csv"
run explain --checkpoint "$T/labels" --node 0 --top 0 --json
json "explain: a model that reads labels has them as features" "$T/stdout" 'any(str(f["feature"]).startswith("label ") for f in j["features"])'
refused "train --label-inputs: without equilibria" 2 "--label-inputs" train --dataset "$D" --label-inputs on --equilibria 0
refused "train --label-inputs: of another model" 2 "--label-inputs,gcn" train --dataset "$D" --model gcn --label-inputs on
run bench stack --nodes 300 --edges 900 --blocks 1 --layers 2 --hidden 8 --threads 1 --no-python --json
json "bench stack: a stack beside a GCN" "$T/stdout" "j['nodes'] == 300 and j['stack']['epoch_ms'] > 0 and j['stack_over_gcn'] > 0 and j['torch_gcn'] is None"
refused "bench stack: more edges than pairs" 2 "--edges" bench stack --nodes 10 --edges 100
refused "train --search: with --split" 2 "--split" train --dataset "$D" $paper --search "$T/grid.toml" --split 0
refused "train: no jobs" 2 "--jobs" train --dataset "$D" $paper --jobs 0
run train --dataset "$D" $paper --split all --batch-runs 2 --solver krylov --epochs 20 --dtype float64 --out "$T/batch" --json
done_well "train --batch-runs: exit code 0"
json "train --batch-runs: both runs" "$T/stdout" \
  'len(j["runs"]) == 2 and all(r["solver"] == "krylov" and r["epochs"] == 20 for r in j["runs"])'
cp "$T/stdout" "$T/together"
run train --dataset "$D" $paper --split all --solver spectral --epochs 20 --dtype float64 --json
json "train --batch-runs: the runs that they are alone" "$T/stdout" \
  'all(abs(a["loss"]["test"] - b["loss"]["test"]) < 1e-9 for a, b in zip(j["runs"], json.load(open("'"$T"'/together"))["runs"]))'
run train --dataset "$D" $paper --split all --batch-runs 2 --solver krylov --epochs 20 --dtype float64 --out "$T/batch" --json
check "train --batch-runs: what is finished is not run again" cmp "$T/stdout" "$T/together"
run evaluate --checkpoint "$T/batch/split-1" --json
done_well "evaluate: a run of a batch"
printf 'lr = [0.01, 0.1]\ngamma = [0.7, 0.8]\nepochs = 10\n' >"$T/rates.toml"
printf 'lr = [0.1, 1e200]\nepochs = 10\n' >"$T/one-fails.toml"
printf 'gamma = [0.8, 1.0]\nepochs = 10\n' >"$T/one-cannot.toml"
run train --dataset "$D" $paper --search "$T/one-fails.toml" --solver krylov --batch-runs 4 --out "$T/one-fails" --json
json "train --search --batch-runs: a point that fails leaves the others alone" "$T/stdout" \
  '["failed" in t for t in j["trials"]] == [False, True] and j["trials"][0]["chosen"]'
refused_late "train --search --batch-runs: a grid that a batch cannot do, before any run" 2 "--batch-runs,gamma 1" \
  train --dataset "$D" $paper --search "$T/one-cannot.toml" --solver krylov --batch-runs 4 --out "$T/one-cannot"
check "train --search --batch-runs: nothing was run" test ! -e "$T/one-cannot/trials"
run train --dataset "$D" $paper --search "$T/rates.toml" --solver krylov --dtype float64 --batch-runs 3 --out "$T/batched" --json
cp "$T/stdout" "$T/together"
run train --dataset "$D" $paper --search "$T/rates.toml" --solver spectral --dtype float64 --json
json "train --search --batch-runs: the trials that they are alone" "$T/stdout" \
  '[(t["settings"], t["val"], t["chosen"]) for t in j["trials"]] == [(t["settings"], t["val"], t["chosen"]) for t in json.load(open("'"$T"'/together"))["trials"]] and len(j["trials"]) == 4'
printf 'seed = [0, 1]\nlr = [0.01, 0.1]\nepochs = 10\n' >"$T/seeds.toml" # which draw a split each
run train --dataset karate --head plain --search "$T/seeds.toml" --solver krylov --dtype float64 --batch-runs 4 --out "$T/seeds" --json
cp "$T/stdout" "$T/together"
run train --dataset karate --head plain --search "$T/seeds.toml" --solver spectral --dtype float64 --json
json "train --search --batch-runs: each seed on its own split" "$T/stdout" \
  'all(abs(a["loss"]["test"] - b["loss"]["test"]) < 1e-9 for a, b in zip(j["runs"], json.load(open("'"$T"'/together"))["runs"])) and [t["val"] for t in j["trials"]] == [t["val"] for t in json.load(open("'"$T"'/together"))["trials"]]'
refused "train --search --batch-runs without a folder" 2 "--batch-runs,--out" train --dataset "$D" $paper --search "$T/rates.toml" --batch-runs 3
refused "train --batch-runs without --split all" 2 "--batch-runs,--split all" train --dataset "$D" $paper --batch-runs 2
refused "train --batch-runs and --jobs" 2 "--batch-runs,--jobs" train --dataset "$D" $paper --split all --batch-runs 2 --jobs 2 --out "$T/out/x"
wide="--head plain --encoder 0 --equilibria 2 --source both --intercept off --feature-norm none --dropout 0"
run train --dataset "$D" $wide --split all --batch-runs 2 --solver krylov --epochs 20 --dtype float64 --out "$T/wide" --json
done_well "train --batch-runs: several equilibria"
cp "$T/stdout" "$T/together"
run train --dataset "$D" $wide --split all --solver spectral --epochs 20 --dtype float64 --json
json "train --batch-runs: several equilibria, the runs that they are alone" "$T/stdout" \
  'all(abs(a["loss"]["test"] - b["loss"]["test"]) < 1e-9 for a, b in zip(j["runs"], json.load(open("'"$T"'/together"))["runs"]))'
refused_late "train --batch-runs: a stack" 2 "--batch-runs,one layer" train --dataset "$D" $paper --layers 2 --split all --batch-runs 2
refused_late "train --batch-runs on a directed graph" 2 "--batch-runs,symmetric" train --dataset "$D" $paper --split all --batch-runs 2 --direction in
refused "train: several jobs and no folder" 2 "--out" train --dataset "$D" $paper --split all --jobs 2
refused "reproduce: no such experiment" 2 "heterophilic" reproduce heterophilc
refused "reproduce: no such row" 2 "cornell" reproduce heterophilic --rows cornel
refused "reproduce: no such model" 2 "eignn" reproduce heterophilic --models eigen
refused "reproduce: the data sets are not here" 1 "eignn fetch" reproduce heterophilic --out "$T/out" --runs "$T/out"
refused "reproduce limitations: the data sets are not here" 1 "eignn fetch" reproduce limitations --out "$T/out" --runs "$T/out"
refused "reproduce limitations: no such row" 2 "did you mean squirrel-exact" reproduce limitations --rows squirrel-exakt
refused "reproduce attacks: the data sets are not here" 1 "eignn fetch" reproduce attacks --out "$T/out" --runs "$T/out"
refused "reproduce attacks: a row that the paper does not attack" 2 "--rows" reproduce attacks --rows chameleon
refused "reproduce: the nearest experiment" 2 "did you mean chains-binary" reproduce chains-binry
refused "reproduce: no such model on chains" 2 "did you mean jknet" reproduce chains-binary --models jknt
refused "reproduce: no length" 2 "--lengths,'x'" reproduce chains-binary --lengths 10,x
refused "reproduce: lengths of what has none" 2 "--lengths" reproduce noise --lengths 10
refused "reproduce all: one experiment's flags" 2 "--models" reproduce all --models gcn
refused "reproduce all: the data sets are not here" 1 "eignn fetch" reproduce all --out "$T/out" --runs "$T/out"
chains() { # chains ARGUMENTS...: a tiny figure
  run reproduce chains-binary --lengths 10,20 --models eignn,gcn --seeds 1 --epochs 5 --threads 1 \
    --out "$T/figures" --runs "$T/figure-runs" "$@"
}
chains
done_well "reproduce chains-binary: two lengths, two models"
check "reproduce chains-binary: says how long it will take" grep -q 'run 3 of 8: .* left$' "$T/stderr"
json "reproduce chains-binary: a point for each, every run with its command" "$T/figures/chains-binary.json" \
  "len(j['points']) == 8 and all(p['runs'][0]['command'].startswith('eignn train --dataset chains') for p in j['points']) and j['provenance']['machine'] != ''"
check "reproduce chains-binary: a row for each length" grep -q '^| 20 | [0-9.]* | [0-9.]* |$' "$T/figures/chains-binary.md"
if command -v gnuplot >/dev/null; then
  check "reproduce chains-binary: a figure, and the page shows it" \
    sh -c 'grep -q "</svg>" "$1.svg" && grep -q "(chains-binary.svg)" "$1.md"' sh "$T/figures/chains-binary"
fi
cp "$T/figures/chains-binary.md" "$T/drawn.md"
rm "$T/figures/chains-binary.md"
run reproduce chains-binary --redraw --out "$T/figures"
done_well "reproduce --redraw: from the results that are there"
check "reproduce --redraw: the page that was, and nothing was run" \
  sh -c 'cmp "$1" "$2" && test ! -s "$3"' sh "$T/drawn.md" "$T/figures/chains-binary.md" "$T/stderr"
run reproduce all --redraw --out "$T/figures" --json
done_well "reproduce all --redraw: what is there"
json "reproduce all --redraw: what is there alone" "$T/stdout" "list(j) == ['chains-binary']"
check "reproduce all --redraw: an index, with what was not run" \
  sh -c 'grep -q "(chains-binary.md)" "$1" && grep -q "^- Heterophilic graphs: not run yet.$" "$1"' sh "$T/figures/index.md"
refused "reproduce --redraw: nothing to draw" 1 "noise.json" reproduce noise --redraw --out "$T/figures"
refused "reproduce --redraw: nothing is run" 2 "--redraw" reproduce noise --redraw --seeds 3
echo '{"experiment":"noise"}' >"$T/figures/noise.json"
refused "reproduce --redraw: results that are not whole" 1 "noise.json,not whole" reproduce noise --redraw --out "$T/figures"
rm "$T/figures/noise.json"
for jobs in 1 2; do
  halves=$T/halves-$jobs
  "$python" "$T/interrupt.py" "$halves/chains-binary/directed/gcn-20/seed-0" 3 20 "$eignn" reproduce chains-binary --lengths 20,30 \
    --models gcn --seeds 1 --epochs 300 --jobs $jobs --out "$halves" --runs "$halves" >"$T/stdout" 2>"$T/stderr"
  code=$?
  cat "$T/stdout" "$T/stderr" >>"$T/everything"
  check "reproduce, $jobs at a time: interrupted, exit code 130" test "$code" -eq 130
  check "reproduce, $jobs at a time: says how to go on" \
    grep -q "go on with: eignn reproduce chains-binary .*--jobs $jobs" "$T/stderr"
done
rm -r "$T/figure-runs/chains-binary/undirected/gcn-20/seed-0"
chains
check "reproduce chains-binary: a second call runs what is missing alone" \
  sh -c 'test "$(grep -c "left$" "$1")" -eq 1' sh "$T/stderr"

# bench --------------------------------------------------------------------------------------------------------------
refused "bench chains: no size" 2 "--size,100x20" bench chains --size 100x20
refused "bench chains: no such solver" 2 "spctral,did you mean spectral" bench chains --solver spctral
refused "bench chains: no epochs to check" 2 "--check-epochs" bench chains --check-epochs 0
refused "bench heterophilic: no such set" 2 "cornel,did you mean cornell" bench heterophilic --dataset cornel
refused "bench heterophilic: a set that is not among them" 2 "chains,squirrel" bench heterophilic --dataset chains
refused "bench ppi: the data set is not here" 1 "eignn fetch ppi" bench ppi
run bench heterophilic --dataset texas
check "bench heterophilic: the data set is not here" sh -c 'test "$1" -eq 1 && grep -q "eignn fetch texas" "$2"' sh "$code" "$T/stderr"
run bench chains --size 8,2 --feature-dim 6 --blocks 1 --published-epochs 5 --no-python --json
done_well "bench chains: a small one"
json "bench chains: the keys, and both sides agree" "$T/stdout" "
set('threads dtype device machine commit seed sizes'.split()) <= set(j) and len(j['sizes']) == 1 and all(
    set('chain_length chains_per_class n m ours published epoch_ratio step_ratio preprocess_ratio blocks rates floor step_over_floor '
        'epoch_over_floor losses losses_agree transcription'.split()) <= set(s)
    and all(set('solver epoch_ms step_ms preprocess_s peak_memory_bytes test_accuracy accuracy_epochs'.split()) <= set(s[side])
            and s[side]['peak_memory_bytes'] > 0 for side in ('ours', 'published'))
    and s['n'] == 32 and s['m'] == 6 and s['losses_agree'] is True and s['losses']['chain_length'] == 8
    and abs(s['epoch_ratio'] * s['ours']['epoch_ms'] - s['published']['epoch_ms']) < 1e-9 * s['published']['epoch_ms']
    and set('step_ms step_flops step_bytes epoch_ms parts'.split()) <= set(s['floor']) for s in j['sizes'])"
run bench chains --size 8,2 --feature-dim 6 --blocks 1 --published-epochs 5 --no-python --no-memory
check "bench chains: its table" grep -q '^(8, 2) *[a-z]' "$T/stdout"
# How an epoch grows -------------------------------------------------------------------------------------------------
run bench scaling --axis components --up-to 1000 --solvers sparse --json
done_well "bench scaling: up to 1000 nodes"
json "bench scaling: points, an exponent, and residuals within their bounds" "$T/stdout" \
  "len(j['points']) == 3 and len(j['fits']) == 1 and all(p['peak_memory_bytes'] > p['start_memory_bytes'] > 0 and p['epoch_s'] > 0 and p['residual'] <= p['residual_bound'] and p['first_epoch_s'] > 0 and 0 < p['labelled_difference'] < 1e-6 for p in j['points'])"
run bench scaling --axis identity --up-to 1000 --solvers sparse --json
done_well "bench scaling: the identity as features"
json "bench scaling: a thin F on sparse features" "$T/stdout" \
  "len(j['points']) == 1 and j['points'][0]['features'] == 1000 and j['points'][0]['rank'] == 32 and j['points'][0]['entries'] == 1 and 0 < j['points'][0]['residual'] < 1e-4 and j['points'][0]['labelled_difference'] < 1e-4"
refused "bench scaling: no such axis" 2 "--axis,did you mean nodes" bench scaling --axis node
refused "bench scaling: no such solver" 2 "--solvers,did you mean sparse" bench scaling --solvers spars
refused "bench scaling: too small" 2 "--up-to" bench scaling --up-to 10

# No escape codes ----------------------------------------------------------------------------------------------------
escape=$(printf '\033')
check "colour: no escape code in anything that was piped" sh -c '! grep -q "$1" "$2"' sh "$escape" "$T/everything"
NO_COLOR=1 "$eignn" train --dataset chains --chain-length 10 --epochs 5 >"$T/stdout" 2>&1 </dev/null
check "colour: NO_COLOR in a pipe, no escape code" sh -c 'test -s "$2" && ! grep -q "$1" "$2"' sh "$escape" "$T/stdout"
cat >"$T/terminal.py" <<'END'
"""terminal.py COMMAND...: runs it on a pseudo-terminal, prints what it wrote."""
import os, pty, sys
written = b""
def read(descriptor):
    global written
    data = os.read(descriptor, 65536)
    written += data
    return data
code = pty.spawn(sys.argv[1:], read)
sys.exit(os.waitstatus_to_exitcode(code))
END
NO_COLOR=1 "$python" "$T/terminal.py" "$eignn" train --dataset chains --chain-length 10 --epochs 5 >"$T/terminal" 2>&1 </dev/null
check "colour: NO_COLOR on a terminal, no colours" sh -c 'test -s "$2" && ! grep -q "$1\[[0-9;]*m" "$2"' sh "$escape" "$T/terminal"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
