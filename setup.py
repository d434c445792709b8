"""pip install --no-build-isolation . : builds the extension module with CMake against the installed PyTorch.

The C++ library of build/release, where `./dev build` left one for the same libtorch, is linked and not compiled again; otherwise
everything is compiled in build/python. EIGNN_BUILD names another folder, EIGNN_HEADERS one with toml++ and Boost.Math
(CONTRIBUTING.md).
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent.resolve()
TORCH = importlib.util.find_spec("torch")


def version():
    return re.search(r"project\(eignn VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


def torch_package():
    if TORCH is None or not TORCH.submodule_search_locations:
        sys.exit("eignn: there is no PyTorch here; install it first (on Debian: apt install python3-torch), "
                 "then: pip install --no-build-isolation .")
    return pathlib.Path(TORCH.submodule_search_locations[0]).resolve()


def cmake_prefix():
    """Where find_package(Torch) must look: in the package of pip's PyTorch; Debian's libtorch is in the system."""
    inside = torch_package() / "share" / "cmake"
    return str(inside) if inside.is_dir() else ""


def setting(cache, name):
    found = re.search(rf"^{name}:[A-Z]*=(.*)$", cache, re.MULTILINE)
    return found.group(1) if found else ""


def is_of_this_torch(build):
    """Whether the library in this folder was configured with the libtorch that `import torch` loads."""
    cache = build / "CMakeCache.txt"
    if not cache.is_file() or not (build / "build.ninja").is_file():
        return False
    where = pathlib.Path(setting(cache.read_text(encoding="utf-8"), "Torch_DIR") or "/nowhere").resolve()
    prefix = cmake_prefix()
    return str(where).startswith(prefix) if prefix else str(where).startswith("/usr/")


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        target = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        release = ROOT / "build" / "release"
        build = pathlib.Path(os.environ.get("EIGNN_BUILD", release if is_of_this_torch(release) else ROOT / "build" / "python"))
        if not (build / "build.ninja").is_file():
            self.run_cmake("-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DEIGNN_UNITY=ON",
                           "-DEIGNN_TESTS=OFF", "-DEIGNN_OPTIONAL_PACKAGES=ON", f"-DCMAKE_PREFIX_PATH={cmake_prefix()}",
                           f"-DEIGNN_HEADERS={os.environ.get('EIGNN_HEADERS', '')}")
        python = getattr(sys, "_base_executable", sys.executable)
        wanted = {"EIGNN_PYTHON": "ON", "Python3_EXECUTABLE": python, "EIGNN_TORCH_PACKAGE": str(torch_package())}
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        if any(os.path.realpath(setting(cache, name)) != os.path.realpath(value) for name, value in wanted.items()):
            self.run_cmake(build, *(f"-D{name}={value}" for name, value in wanted.items()))
        self.run_cmake("--build", build, "--target", "eignn-python")
        modules = sorted((build / "python" / "eignn").glob("_binding*.so"), key=lambda path: path.stat().st_mtime)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(modules[-1]), str(target))

    @staticmethod
    def run_cmake(*arguments):
        subprocess.run(["cmake", *map(str, arguments)], check=True)


setup(version=version(), ext_modules=[Extension("eignn._binding", sources=[])], cmdclass={"build_ext": BuildWithCMake})
