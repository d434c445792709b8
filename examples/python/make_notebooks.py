"""Makes NAME.ipynb of each NAME.py here, with its outputs: python3 make_notebooks.py [NAME.py ...]

A script's docstring and the comment below each line `# %%` are text; the rest is code. The figures that a cell saves stand
below it.
"""

import ast
import base64
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent.resolve()


def cells_of(script):
    """("markdown" | "code", text) for each cell, in order."""
    head, *parts = script.split("\n# %%\n")
    cells = [("markdown", ast.literal_eval(head.strip()).strip())]
    for part in parts:
        lines = part.strip("\n").split("\n")
        count = 0
        while count < len(lines) and lines[count].startswith("# "):
            count += 1
        if count:
            cells.append(("markdown", "\n".join(line[2:] for line in lines[:count])))
        code = "\n".join(lines[count:]).strip("\n")
        if code:
            cells.append(("code", code))
    return cells


def run_cell(code, names):
    """The outputs of a cell, as a notebook has them."""
    before = set(pathlib.Path().glob("*.png"))
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(code, "cell", "exec"), names)
    outputs = []
    if told.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": told.getvalue().splitlines(keepends=True)})
    for path in sorted(set(pathlib.Path().glob("*.png")) - before):
        picture = base64.b64encode(path.read_bytes()).decode()
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}})
    return outputs


def notebook_of(script):
    names, cells, count = {"__name__": "__main__"}, [], 0
    for kind, text in cells_of(script):
        cell = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": text.splitlines(keepends=True)}
        if kind == "code":
            count += 1
            cell.update(execution_count=count, outputs=run_cell(text, names))
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def main(arguments):
    scripts = [pathlib.Path(path).resolve() for path in arguments] or sorted(HERE.glob("[0-9]*.py"))
    for path in scripts:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            book = notebook_of(path.read_text(encoding="utf-8"))
            os.chdir(HERE)
        path.with_suffix(".ipynb").write_text(json.dumps(book, indent=1) + "\n", encoding="utf-8")
        print(path.with_suffix(".ipynb").name)


if __name__ == "__main__":
    main(sys.argv[1:])
