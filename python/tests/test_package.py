"""The package as a newcomer meets it: imports, doctests, types, pictures, tutorials."""

import doctest
import importlib
import json
import pathlib
import subprocess
import sys

import pytest

import eignn

ROOT = pathlib.Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "examples" / "python").glob("[0-9]*.py"))
MODULES = ["eignn", "eignn._data", "eignn._equilibrium", "eignn._errors", "eignn._graphs", "eignn._settings", "eignn._training",
           "eignn.datasets", "eignn.nn"]


def python(*arguments, **options):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=True, **options)


@pytest.mark.parametrize("name", MODULES + ["eignn.estimators", "eignn.plot"])
def test_the_examples_of_the_docstrings(name):
    if name == "eignn.estimators":
        pytest.importorskip("sklearn")
    if name == "eignn.plot":
        pytest.importorskip("matplotlib")
    if name in ("eignn._data", "eignn._training"):
        pytest.importorskip("pandas")
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_every_public_name_is_there_and_has_a_docstring():
    for name in eignn.__all__:
        if name in ("plot", "EIGNNClassifier", "EIGNNRegressor"):
            pytest.importorskip("matplotlib" if name == "plot" else "sklearn")
        assert getattr(eignn, name).__doc__, name
    assert set(eignn.__all__) <= set(dir(eignn))
    with pytest.raises(AttributeError, match="nothing"):
        eignn.nothing


def test_nothing_is_printed_and_little_is_loaded_on_import():
    code = "import torch, sys, time\nbegin = time.process_time()\nimport eignn\nprint(time.process_time() - begin, 'sklearn' in sys.modules, 'matplotlib' in sys.modules, 'pandas' in sys.modules)"
    told = [python("-c", code) for _ in range(3)]
    assert all(not each.stderr for each in told)
    assert all(each.stdout.split()[1:] == ["False"] * 3 for each in told)
    assert min(float(each.stdout.split()[0]) for each in told) < 0.3


def test_the_module_uses_the_libtorch_of_import_torch():
    code = "import torch, eignn; print(sorted({line.split()[-1] for line in open('/proc/self/maps') if 'libtorch_cpu' in line}))"
    assert python("-c", code).stdout.count("libtorch_cpu") == 1


def test_the_stubs_name_what_the_module_has():
    stub = (pathlib.Path(eignn.__file__).parent / "_binding.pyi").read_text()
    for name in dir(eignn._binding):
        if not name.startswith("_"):
            assert f"def {name}(" in stub or f"class {name}" in stub, name


def test_the_code_of_the_documentation_runs(tmp_path, monkeypatch):
    """Every block of docs/python.md and of the README, with a small data set in the place of a large one."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    club = eignn.datasets.karate()
    train, val, test = club.splits[0]
    people = pandas.DataFrame({"age": range(34), "class": club.y.numpy()})
    friends = pandas.DataFrame(club.edge_index.T.numpy(), columns=["one", "other"])
    names = {"np": numpy, "x": torch.randn(34, 16, requires_grad=True), "edge_index": club.edge_index, "edge_weight": None,
             "F": torch.randn(16, 16, requires_grad=True), "edges": friends, "nodes": people, "y": club.y, "train": train, "val": val,
             "test": test, "labels": club.y.numpy(), "X": club.x.numpy()}
    for page in ("docs/python.md", "README.md"):
        for block in (ROOT / page).read_text().split("```python\n")[1:]:
            exec(block.split("```")[0].replace('"texas"', '"karate"').replace("epochs=500", "epochs=50"), names)


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_and_draws(script, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    done = python(script, cwd=tmp_path)
    assert done.stdout
    drawn = list(tmp_path.glob("*.png"))
    assert drawn and all(path.stat().st_size > 5000 for path in drawn)


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.stem)
def test_the_notebook_of_a_tutorial_has_its_text_and_outputs(script):
    book = json.loads(script.with_suffix(".ipynb").read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    sys.path.insert(0, str(ROOT / "examples" / "python"))
    try:
        from make_notebooks import cells_of
    finally:
        sys.path.pop(0)
    expected = [(kind, text) for kind, text in cells_of(script.read_text())]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]] == expected
    assert any(cell["outputs"] for cell in code)
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"])
