#!/usr/bin/python3
"""The checks of the documentation see what is wrong.

    docs_tools_test.py SOURCE_FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = None


class DocsTools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name) / "eignn"
        self.copy.mkdir()
        for name in ("docs", "results", "examples", "recipes", "bench"):
            shutil.copytree(ROOT / name, self.copy / name)
        for page in [*ROOT.glob("*.md"), ROOT / "CITATION.cff"]:
            shutil.copy(page, self.copy)

    def check(self, tool, *arguments):
        return subprocess.run(["/usr/bin/python3", self.copy / "docs/tools" / tool, *arguments], capture_output=True, text=True)

    def change(self, name, before, after):
        path = self.copy / name
        text = path.read_text(encoding="utf-8")
        self.assertTrue(before in text, f"{name} does not have: {before}")
        path.write_text(text.replace(before, after, 1), encoding="utf-8")

    def edit(self, name, change):
        path = self.copy / f"results/{name}.json"
        results = json.loads(path.read_text(encoding="utf-8"))
        change(results)
        path.write_text(json.dumps(results), encoding="utf-8")

    def test_all_is_well_in_a_copy(self):
        self.assertEqual(self.check("claims.py", "--check").returncode, 0)
        self.assertEqual(self.check("links.py").returncode, 0)

    def test_a_figure_in_the_table_of_claims_is_compared(self):
        self.change("README.md", "GCN 64.4 %", "GCN 46.4 %")
        self.assertIn("table of claims", self.check("claims.py", "--check").stdout)

    def test_a_figure_in_prose_is_compared(self):
        self.change("docs/experiments.md", "98 % at 30", "99 % at 30")
        done = self.check("claims.py", "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/experiments.md does not say", done.stdout)

    def test_the_table_follows_the_files(self):
        def holds(results):
            for panel in results["claims"][0]["panels"]:
                panel["verdict"] = "holds"

        self.edit("noise", holds)
        self.assertEqual(self.check("claims.py", "--check").returncode, 1)
        self.assertEqual(self.check("claims.py").returncode, 0)
        self.assertEqual(self.check("claims.py", "--check").returncode, 0)
        self.assertIn("| EIGNN is ahead of IGNN under noise | holds |", (self.copy / "README.md").read_text(encoding="utf-8"))

    def test_a_verdict_in_words_must_follow_from_the_files(self):
        def significant(results):
            results["rows"][0]["p"] = 0.0098

        self.edit("heterophilic", significant)
        done = self.check("claims.py", "--check")
        self.assertNotEqual(done.returncode, 0)

    def test_broken_links_are_found(self):
        self.change("README.md", "(docs/python.md)", "(docs/pyton.md)")
        self.change("docs/models.md", "(#eignn-sources-directions-stacks)", "(#eignn-sources)")
        done = self.check("links.py")
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md: docs/pyton.md leads nowhere", done.stdout)
        self.assertIn("docs/models.md: #eignn-sources: there is no such part", done.stdout)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
