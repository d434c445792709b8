#!/bin/sh
# Installs a build into a temporary folder and uses it from there, as a stranger would: the command, and a
# project of its own that says find_package(eignn).
#
#     consumer_test.sh BUILD CONSUMER COMPILER
set -eu

if [ $# -ne 3 ]; then
    echo "usage: consumer_test.sh BUILD CONSUMER COMPILER" >&2
    exit 2
fi
build=$1 consumer=$2 compiler=$3

work=$(mktemp -d "${TMPDIR:-/tmp}/eignn-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

fail() {
    echo "consumer_test: $*" >&2
    exit 1
}

# quietly LOG COMMAND…: shows what the command printed only when it fails.
quietly() {
    log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "failed: $*"
    }
}

# The libtorch and the flags (sanitizers, string ABI) that the build was made with.
cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

prefix=$work/prefix
quietly install cmake --install "$build" --prefix "$prefix"

version=$("$prefix/bin/eignn" --version) || fail "the installed command does not run"
case $version in
*[0-9].[0-9]*) echo "installed: $version" ;;
*) fail "--version printed '$version'" ;;
esac

quietly configure cmake -S "$consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$(cached CMAKE_CXX_FLAGS)" \
    -DCMAKE_PREFIX_PATH="$prefix;${CMAKE_PREFIX_PATH:-};$(cached CMAKE_PREFIX_PATH)" -DTorch_DIR="$(cached Torch_DIR)"

# It must be the installed package, and nothing of it may point back into the build or the sources.
found=$(sed -n 's/^eignn_DIR:[A-Z]*=//p' "$work/build/CMakeCache.txt")
case $found in
"$prefix"/*) ;;
*) fail "found eignn in '$found', not in '$prefix'" ;;
esac
if grep -rnF "$(cd "$build" && pwd -P)" "$found" >&2; then
    fail "the installed package names the build folder"
fi

quietly build cmake --build "$work/build"
"$work/build/consumer" || fail "the consumer failed"

# Every wrong use is refused by an error of ours, or has the right answer.
"$work/build/misuse" >"$work/misuse.txt" || { cat "$work/misuse.txt" >&2; fail "misuse was not refused"; }
tail -n 1 "$work/misuse.txt"

# The program of docs/cpp.md: one process trains and saves, another loads and predicts.
cd "$work"
"$work/build/first" train model.safetensors || fail "the first program did not train"
"$work/build/first" predict model.safetensors | grep '^predicted: ' || fail "the first program did not predict"
lines=$(wc -l <"$consumer/../../examples/cpp/first.cpp")
[ "$lines" -le 25 ] || fail "the first program has grown to $lines lines"
