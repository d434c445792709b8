#!/bin/sh
# pip_test.sh SOURCE_FOLDER BUILD_FOLDER PYTHON: `pip install .` without a package index in a new virtual environment, the
# first tutorial there, and a wheel. The library of BUILD_FOLDER is linked, not compiled again.
set -eu
source=$1 build=$2 python=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/eignn-pip.XXXXXX")
trap 'rm -rf "$work"' EXIT
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 EIGNN_BUILD="$build"
touch "$work/before"
# A copy, since setuptools leaves build/lib and eignn.egg-info beside the sources.
mkdir "$work/source"
cp -r "$source/python" "$source/setup.py" "$source/pyproject.toml" "$source/README.md" "$source/CMakeLists.txt" "$work/source"
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q --no-build-isolation "$work/source"
cd "$work"
"$work/venv/bin/python" -c "import eignn, sys; assert eignn.__file__.startswith('$work'), eignn.__file__; print('eignn', eignn.__version__)"
MPLBACKEND=Agg "$work/venv/bin/python" "$source/examples/python/1_chains.py"
[ -s 1_chains.png ]
"$work/venv/bin/pip" wheel -q --no-build-isolation --no-deps -w "$work/wheels" "$work/source"
ls "$work"/wheels/eignn-*.whl
# revision.cpp has the commit, which another build may have written anew.
again=$(find "$build/CMakeFiles/eignn.dir" "$build/CMakeFiles/eignn_base.dir" -name '*.o' ! -name 'revision*' -newer "$work/before")
[ -z "$again" ] || { echo "these were compiled again: $again"; exit 1; }
