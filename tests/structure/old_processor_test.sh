#!/bin/sh
# The tests of the kernels on a processor without AVX, emulated: nothing that runs there may need it, and the plain kernels
# must be what is chosen.
#
#     old_processor_test.sh BASE_TESTS
set -eu
command -v qemu-x86_64 >/dev/null 2>&1 || {
    echo "skipped: qemu-x86_64 is not installed (Debian: qemu-user)"
    exit 77
}
output=$(qemu-x86_64 -cpu Nehalem "$1" --gtest_brief=1 --gtest_filter='*Kernel*:*AgainstDense*:Receive.*:Ordinary.*-ThinKernel.IsTheProduct' 2>&1) || {
    echo "$output"
    exit 1
}
echo "$output"
case $output in
*"kernels: plain"*) ;;
*)
    echo "old_processor_test: the plain kernels were not chosen"
    exit 1
    ;;
esac
