#!/usr/bin/python3
"""Every command in README.md and docs/*.md is one that the program takes, and those of the first pages run.

    documented_commands_test.py PATH_TO_EIGNN

A command's flags are checked by the executable before it loads its engine, so that a copy of it without the engine says exit code 2 to
what is wrong, and to nothing else. Lines with … are synopses and are left out. Commands of the pages in EXECUTED are run with the engine,
in the order of the page, trainings cut to a few epochs, where they need no data that would have to be fetched.
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXECUTED = ("README.md", "docs/first-run.md")
EIGNN = None


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text):
    """The lines of code: indented by four, or between fences."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line.strip()


def commands(page):
    """The words of each eignn command of a page, and whether mpirun or srun starts it."""
    lines = iter(blocks(page.read_text(encoding="utf-8")))
    for line in lines:
        while line.endswith("\\"):
            line = line[:-1] + next(lines)
        if "…" in line or "[--" in line or "[OPTIONS]" in line or re.match(r"eignn on [a-z]+: solver", line):
            continue
        found = re.match(r"((?:[A-Z_]+=\S+ |mpirun (?:-{1,2}[a-z-]+ \S+ )*|srun (?:-{1,2}\S+ )*)*)(?:build/release/)?eignn (.*)", line)
        if found:
            yield "run " in found.group(1), only_eignn(shlex.split(found.group(2), comments=True))


def only_eignn(words):
    """Without what follows in the shell: a pipe, another command, a redirection."""
    for place, word in enumerate(words):
        if word in ("|", "&&", ";") or word.lstrip("2").startswith(">"):
            return words[:place]
    return words


def option(words, flag):
    """The value of a flag, or an empty text."""
    return words[words.index(flag) + 1] if flag in words else ""


class DocumentedCommands(unittest.TestCase):
    def setUp(self):
        self.new_folder()

    def new_folder(self):
        """The folder that commands run in: where a reader stands, at the top of the repository."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        for name in ("examples", "recipes"):
            (self.work / name).symlink_to(ROOT / name)

    def run_in(self, program, words, processes=1):
        launched = {"OMPI_COMM_WORLD_SIZE": str(processes), "OMPI_COMM_WORLD_RANK": "0"} if processes > 1 else {}
        return subprocess.run([program, *words], cwd=self.work, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.work), "EIGNN_CACHE": str(self.work / "cache"), **launched})

    def public(self):
        """The names of data sets that can be fetched or are built in."""
        return {"chains", "karate"} | {line.split()[0] for line in self.run_in(EIGNN, ["fetch", "--list"]).stdout.splitlines() if line.strip()}

    def test_every_command_has_flags_that_exist(self):
        front = self.work / "eignn"
        shutil.copy(EIGNN, front)
        seen, public = 0, self.public()
        for page in pages():
            for launched, words in commands(page):
                if words[0] == "fetch" and "--list" not in words:
                    if "--mirror" in words:
                        del words[words.index("--mirror"):words.index("--mirror") + 2]
                    words = [*words, "--mirror", "http://127.0.0.1:9"]  # nothing listens there
                data = self.work / option(words, "--dataset")
                if data.name not in public and not data.exists() and data.parent == self.work:
                    data.mkdir()  # a folder of the reader's; what is in it is not looked at before the engine is there
                with self.subTest(page=page.name, command=" ".join(words)):
                    done = self.run_in(front, words, processes=4 if launched else 1)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                seen += 1
        self.assertGreater(seen, 100)

    def test_the_test_would_see_a_wrong_flag(self):
        front = self.work / "eignn"
        shutil.copy(EIGNN, front)
        self.assertEqual(self.run_in(front, ["train", "--dataset", "karate", "--epoch", "3"]).returncode, 2)
        right = self.run_in(front, ["train", "--dataset", "karate", "--epochs", "3"])
        self.assertEqual(right.returncode, 1)
        self.assertIn("the engine cannot be loaded", right.stderr)

    def test_the_commands_of_the_first_pages_run(self):
        fetched = self.public() - {"chains", "karate"}
        for name in EXECUTED:
            self.new_folder()
            ran = 0
            for launched, words in commands(ROOT / name):
                if launched or words[0] in ("fetch", "reproduce", "bench") or option(words, "--dataset") in fetched or "--search" in words:
                    continue
                if words[0] == "train" and "--epochs" not in words and "--resume" not in words:
                    words = [*words, "--epochs", "5"]
                with self.subTest(page=name, command=" ".join(words)):
                    done = self.run_in(EIGNN, words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                ran += 1
            self.assertGreater(ran, 2, name)

    def test_every_command_of_dev_is_one(self):
        known = set(re.findall(r"^  ([a-z-]+)(?: \| [a-z-]+)*\)", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE))
        self.assertTrue({"demo", "build", "docs"} <= known)
        for page in [*pages(), ROOT / "CONTRIBUTING.md"]:
            for name in re.findall(r"\./dev ([a-z][a-z-]*)", page.read_text(encoding="utf-8")):
                self.assertIn(name, known | {"help"}, page.name)


if __name__ == "__main__":
    EIGNN = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
