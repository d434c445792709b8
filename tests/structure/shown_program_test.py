#!/usr/bin/python3
"""The program in docs/cpp.md is examples/cpp/first.cpp, which the tests build and run.

    shown_program_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    program = (root / "examples/cpp/first.cpp").read_text(encoding="utf-8")
    blocks = re.findall(r"```cpp\n(.*?)```", (root / "docs/cpp.md").read_text(encoding="utf-8"), re.DOTALL)
    if program in blocks:
        return 0
    print("docs/cpp.md does not show examples/cpp/first.cpp as it is; paste it again")
    return 1


if __name__ == "__main__":
    sys.exit(main())
