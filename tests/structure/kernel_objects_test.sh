#!/bin/sh
# The objects compiled for newer processors define nothing but the kernels of their level. An inline function of another header
# among them could become the one copy that the linker keeps, and stop the program on an older processor.
#
#     kernel_objects_test.sh NM OBJECT...
set -eu
nm=$1
shift
[ $# -gt 0 ] || {
    echo "kernel_objects_test: no objects"
    exit 1
}
status=0
for object in "$@"; do
    # Defined (not U), visible outside (a capital letter), and not in a namespace of a level. The sanitizers' own are allowed.
    others=$("$nm" -C "$object" | grep -E '^[0-9a-f]+ [A-Z] ' | grep -vE ' U | eignn::avx(2|512)::|[ *&]eignn::avx(2|512)::|__(asan|ubsan|tsan|odr_asan)|sancov' || true)
    if [ -n "$others" ]; then
        echo "$object defines what is not a kernel of its level:"
        echo "$others"
        status=1
    fi
done
exit $status
