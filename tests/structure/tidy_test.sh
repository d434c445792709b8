#!/bin/sh
# `./dev tidy` fails where a file has a warning, also when time runs out before the others are read.
#
#     tidy_test.sh DEV
#
# clang-tidy, cmake and the packages are stand-ins: this is about what the script makes of their answers.
set -eu
dev=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/eignn-tidy-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM

mkdir -p "$work/bin" "$work/tree/src"
cp "$dev" "$work/tree/dev"
stand_in() {
  printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in cmake 'mkdir -p build/tidy'
stand_in dpkg-query 'echo "install ok installed"'
stand_in nproc 'echo 2'
# The last argument is the file.
stand_in clang-tidy 'for file; do :; done
case $file in *bad*) echo "$file: a warning"; exit 1 ;; *slow*) exec sleep 20 ;; esac'
PATH=$work/bin:$PATH

cd "$work/tree"
git init -q .
in_git() { git -c user.name=test -c user.email=test@localhost "$@"; }
in_git add -A
in_git commit -q -m "before"
tidy() { # tidy NAME WANTED_CODE FILES...: the code of `./dev tidy` with these files changed
  name=$1 wanted=$2
  shift 2
  rm -f src/*.cpp
  for file in "$@"; do echo "int $file;" >"src/$file.cpp"; done
  git add -A src
  code=0
  timeout 60 sh ./dev tidy --base HEAD --seconds 2 >"$work/log" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || { echo "$name: exit code $code, not $wanted"; cat "$work/log"; exit 1; }
}
tidy "a file without warnings passes" 0 good
tidy "a file with a warning fails" 1 bad good
tidy "a file with a warning fails when time runs out on another" 1 bad slow
tidy "files that there was no time for pass" 0 good slow
echo "tidy: what has warnings fails, what there was no time for passes"
