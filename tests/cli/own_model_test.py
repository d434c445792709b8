#!/usr/bin/python3
"""A model of one's own tables, used after they were renamed, reordered, extended and labelled.

    own_model_test.py EIGNN [TestCase.test_name ...]
"""
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

EIGNN = ""


class Town:
    """People with an age, an income with gaps and a city, who know each other more or less."""

    def __init__(self, people=60, seed=1):
        draw = random.Random(seed)
        self.columns = ["age", "income", "city"]
        self.rows = {}
        for k in range(people):
            happy = k % 2 == 1
            self.rows[f"person {k}"] = {
                "age": f"{40 + 15 * happy + draw.gauss(0, 6):.3f}", "income": "" if k % 7 == 0 else f"{draw.gauss(3e4, 8e3):.2f}",
                "city": draw.choice(["Rome", "Bonn", "Paris, Texas"]), "label": "" if k % 3 == 2 else "happy" if happy else "sad"}
        names = list(self.rows)
        self.edges = {}
        for _ in range(3 * people):
            a, b = draw.sample(names, 2)
            if (b, a) not in self.edges:
                self.edges[a, b] = f"{draw.uniform(0.5, 4):.3f}"

    def write(self, folder, columns=None, order=None, labels=True):
        folder.mkdir(parents=True)
        with open(folder / "nodes.csv", "w", newline="") as file:
            table = csv.writer(file)
            columns = columns or self.columns
            table.writerow(["id", *columns, *(["label"] if labels else [])])
            for name in order or self.rows:
                row = self.rows[name]
                table.writerow([name, *(row.get(c, "") for c in columns), *([row["label"]] if labels else [])])
        with open(folder / "edges.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["source", "target", "weight"])
            for (a, b), weight in self.edges.items():
                table.writerow([a, b, weight])
        return folder


class RoundTrips(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="eignn-own-model-"))
        self.environment = dict(os.environ, EIGNN_CACHE=str(self.work / "cache"))
        self.town = Town()

    def tearDown(self):
        subprocess.run(["rm", "-rf", self.work], check=True)

    def run_eignn(self, *words):
        return subprocess.run([EIGNN, *map(str, words)], capture_output=True, text=True, env=self.environment, timeout=120,
                              stdin=subprocess.DEVNULL)

    def accepted(self, *words):
        result = self.run_eignn(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refused(self, words, *says, code=1):
        result = self.run_eignn(*words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, r"^eignn: error: .* \(.*\); .")
        for word in says:
            self.assertIn(word, result.stderr)

    def trained(self, *more):
        self.accepted("train", "--dataset", self.town.write(self.work / "town"), "--epochs", 60, "--threads", 1, "--out",
                      self.work / "run", *more)
        return self.work / "run"

    def predicted(self, run, *more):
        """Of each node the row of predictions.csv and its probabilities; and what the command printed."""
        table, array = self.work / "p.csv", self.work / "p.npy"
        printed = self.accepted("predict", "--checkpoint", run, "--out", table, *more).stdout
        self.accepted("predict", "--checkpoint", run, "--out", array, *more)
        with open(table, newline="") as file:
            rows = {row["node"]: row for row in csv.DictReader(file)}
        return rows, dict(zip(rows, np.load(array))), printed

    def same(self, before, after, tolerance):
        worst = max(np.abs(before[name] - after[name]).max() for name in before)
        self.assertLessEqual(worst, tolerance)

    def test_renamed_moved_reordered_extended_and_labelled(self):
        for precision, tolerance in (("float32", 1e-5), ("float64", 1e-10)):
            run = self.trained("--dtype", precision)
            rows, p, printed = self.predicted(run)
            self.assertIn("the graph of the training", printed)
            self.assertEqual(rows["person 0"]["label"], "sad")
            self.assertEqual({row["predicted"] for row in rows.values()}, {"happy", "sad"})
            self.assertEqual(set(next(iter(rows.values()))), {"node", "split", "label", "predicted", "p_happy", "p_sad"})
            parts = {name: row["split"] for name, row in rows.items()}
            self.assertEqual(set(parts.values()), {"train", "val", "test", "none"})

            def check(folder, tolerance, says, expected=parts):
                now, q, printed = self.predicted(moved, "--dataset", folder)
                self.same(p, q, tolerance)
                self.assertEqual({name: now[name]["split"] for name in parts}, expected)
                self.assertIn(says, printed)
                return now

            moved = self.work / "elsewhere" / precision / "model.safetensors"
            moved.parent.mkdir(parents=True)
            (run / "model.safetensors").rename(moved)
            (self.work / "town").rename(self.work / "renamed")
            self.refused(["predict", "--checkpoint", moved, "--out", self.work / "p.csv"], "--dataset", "town", code=2)
            check(self.work / "renamed", 0, "(the graph of the training)")
            order = list(self.town.rows)
            random.Random(7).shuffle(order)
            check(self.town.write(self.work / "columns", columns=["city", "age", "income"]), 0, "(the graph of the training)")
            check(self.town.write(self.work / "rows", order=order), tolerance, "(the graph of the training)")
            check(self.town.write(self.work / "unlabelled", labels=False), tolerance, "(the graph of the training)")
            grown = Town()
            for name in order:
                grown.rows[name] = dict(self.town.rows[name], label=self.town.rows[name]["label"] or "happy")
            for k in range(5):
                grown.rows[f"newcomer {k}"] = {"age": "30", "income": "", "city": "Oslo", "label": "sad"}
            grown.edges["newcomer 0", "newcomer 1"] = "9.5"
            now = check(grown.write(self.work / "grown", order=[*order[:20], *(f"newcomer {k}" for k in range(5)), *order[20:]]),
                        tolerance, "with 5 nodes more")
            self.assertEqual(now["newcomer 3"]["split"], "none")
            other = self.predicted(moved, "--dataset", Town(50, seed=2).write(self.work / "other"))
            self.assertEqual({row["split"] for row in other[0].values()}, {"none"})
            self.assertIn("another graph", other[2])
            said = json.loads(self.accepted("evaluate", "--checkpoint", moved, "--dataset", self.work / "other", "--json").stdout)
            self.assertIsNone(said["train_accuracy"])
            self.assertGreater(said["test_accuracy"], 0.4)
            subprocess.run(["rm", "-rf", *(entry for entry in self.work.iterdir() if entry.name not in ("cache", "elsewhere"))], check=True)

    def test_one_node_is_predicted_as_if_it_had_been_in_the_tables(self):
        run = self.trained("--dtype", "float64")
        self.town.rows["Ada"] = {"age": "33", "income": "", "city": "Paris, Texas", "label": ""}
        self.town.edges["Ada", "person 3"] = "1"
        self.town.edges["person 8", "Ada"] = "2.5"
        rows, p, _ = self.predicted(run, "--dataset", self.town.write(self.work / "with-ada"))
        words = ["predict", "--checkpoint", run, "--node", 'age=33,income=,city="Paris, Texas"', "--neighbours", "person 3,person 8:2.5"]
        said = json.loads(self.accepted(*words, "--json").stdout)
        self.assertEqual(said["predicted"], rows["Ada"]["predicted"])
        found = {entry["class"]: entry["probability"] for entry in said["probabilities"]}
        self.assertLess(abs(found["happy"] - p["Ada"][0]), 1e-10)
        self.assertIn("happy", self.accepted(*words, "--top", 1).stdout + self.accepted(*words, "--top", 2).stdout)
        refused = lambda node, neighbours, *says: self.refused(
            ["predict", "--checkpoint", run, "--node", node, "--neighbours", neighbours], *says, code=2)
        refused("age=33,city=Rome", "person 3", "--node", "'income' is missing")
        refused("age=33,income=1,city=Rome,shoe=4", "person 3", "--node", "'shoe'")
        refused("age=old,income=1,city=Rome", "person 3", "--node", "'old'")
        refused("age=33,income=1,city=Rome", "persn 3", "--neighbours", "'persn 3'")
        refused("age=33,income=1,city=Rome", "person 3:-2", "--neighbours", "-2")

    def test_columns_that_are_missing_or_surplus_are_named(self):
        run = self.trained()
        out = ["--out", self.work / "p.csv"]
        few = self.town.write(self.work / "few", columns=["age", "city"])
        self.refused(["predict", "--checkpoint", run, "--dataset", few, *out], "'income'")
        for row in self.town.rows.values():
            row["shoe size"] = "41"
        many = self.town.write(self.work / "many", columns=["age", "income", "city", "shoe size"])
        self.refused(["predict", "--checkpoint", run, "--dataset", many, *out], "'shoe size'")
        self.accepted("predict", "--checkpoint", run, "--dataset", many, "--ignore-columns", "shoe size", *out)

    def test_columns_are_what_they_were_in_training_however_few_the_rows(self):
        town = self.town = Town(150)
        town.columns = ["age", "income", "city", "remark"]
        for k, row in enumerate(town.rows.values()):
            row["remark"] = f"remark {k}"
        run = self.trained()
        self.assertIn("not used", self.accepted("inspect", "--dataset", self.work / "town").stdout)
        for count in (60, 1):
            few = Town(150)
            few.rows = dict(list(town.rows.items())[:count])
            few.edges = {ends: weight for ends, weight in town.edges.items() if set(ends) <= set(few.rows)}
            rows, _, _ = self.predicted(run, "--dataset", few.write(self.work / f"few-{count}", columns=town.columns))
            self.assertEqual(set(rows), set(few.rows))

    def test_a_file_that_was_changed_is_refused(self):
        checkpoint = self.trained() / "model.safetensors"
        text = checkpoint.read_bytes()
        for was, becomes in ((b"happy", b"sappy"), (b"income", b"oncome"), (b"eignn-checkpoint-5", b"eignn-checkpoint-8"),
                             (b'"training.nodes":"60"', b'"training.nodes":"61"')):
            self.assertIn(was, text)
            checkpoint.write_bytes(text.replace(was, becomes))
            self.refused(["predict", "--checkpoint", checkpoint, "--out", self.work / "p.csv"], "model.safetensors")
        self.assertNotIn(b"person 1", text)


class Starts(unittest.TestCase):
    """What a run says before its first epoch, both streams in one pipe."""

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="eignn-starts-"))
        self.town = Town(120).write(self.work / "town")

    def tearDown(self):
        subprocess.run(["rm", "-rf", self.work], check=True)

    def said(self, *words):
        words = words or ("--epochs", 5)
        result = subprocess.run([EIGNN, "train", "--dataset", self.town, "--threads", "1", *map(str, words)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, stdin=subprocess.DEVNULL,
                                env=dict(os.environ, EIGNN_CACHE=str(self.work / "cache")))
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def in_order(self, text, *parts):
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places, (parts, text))
        self.assertEqual(places, sorted(places), text)

    def test_the_table_comes_first_then_the_settings_and_what_the_run_decided(self):
        self.in_order(self.said(), "nodes.csv  id", "flags: ", "recipe eignn/own: ", "nothing of this run is kept", "rules: solver ",
                      "1/5", "eignn on ")

    def test_several_runs_say_their_settings_before_the_first_and_how_long_they_take_together(self):
        text = self.said("--split", "all", "--drawn", 3, "--recipe", "cornell", "--epochs", 8000, "--patience", 1)
        self.in_order(text, "recipe eignn/cornell: ", "the recipe eignn/cornell takes 109 ms an epoch", "the 3 runs together usually 7 min",
                      "at most 44 min; a short way is --split 0 --epochs 1100", "nothing of this run is kept", "nodes.csv  id")
        self.assertEqual(text.count("nothing of this run is kept"), 1)

    def test_large_files_are_announced(self):
        self.assertNotIn("reading ", self.said())
        with open(self.town / "notes.bin", "wb") as file:
            file.truncate(150_000_000)
        self.in_order(self.said(), f"reading {self.town} (150 MB)", "nodes.csv  id")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: own_model_test.py EIGNN [TestCase.test_name ...]")
    EIGNN = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
