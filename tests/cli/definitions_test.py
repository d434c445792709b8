#!/usr/bin/python3
"""--help, the completions, the man page and docs/commands.md name the same commands and flags.

    definitions_test.py PATH_TO_EIGNN
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EIGNN = None


def eignn(*arguments, code=0):
    done = subprocess.run([EIGNN, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != code:
        raise AssertionError(f"eignn {' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


def commands():
    """Each command's words and the flags that its help has."""
    found = {}

    def visit(words):
        text = eignn(*words, "--help")
        flags = set(re.findall(r"^ +(?:-h,)?(--[a-z0-9-]+)", text, re.MULTILINE))
        found[" ".join(words)] = flags
        if "\nSubcommands:\n" in text:
            for name in re.findall(r"^  ([a-z][a-z-]*) ", text.split("\nSubcommands:\n")[1].split("\n\n")[0], re.MULTILINE):
                visit([*words, name])

    visit([])
    return found


class Definitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()

    def test_help_was_read(self):
        self.assertTrue({"train", "explain", "bench chains", "manual"} <= set(self.commands))
        self.assertIn("--redraw", self.commands["reproduce"])
        self.assertGreater(len(self.commands["train"]), 50)

    def test_completions_have_all_of_it(self):
        bash = dict(re.findall(r"^    '([^']*)'\) answers='([^']*)' ;;$", eignn("completion", "bash"), re.MULTILINE))
        zsh, fish = eignn("completion", "zsh"), eignn("completion", "fish")
        self.assertEqual(set(bash), set(self.commands))
        for words, flags in self.commands.items():
            offered = set(bash[words].split())
            self.assertEqual({word for word in offered if word.startswith("--")}, flags, words)
            inside = {other.rsplit(" ", 1)[-1] for other in self.commands if other and other.rsplit(" ", 1)[:-1] == ([words] if words else [])}
            self.assertEqual({word for word in offered if not word.startswith("--")}, inside, words)
            for flag in flags:
                self.assertIn(f"'{flag}:", zsh)
                self.assertIn(f" -l {flag[2:]} ", fish.replace("\n", " \n"))

    def test_bash_completes(self):
        answer = subprocess.run(
            ["bash", "-c", 'source "$0"; COMP_WORDS=(eignn reproduce --red); COMP_CWORD=2; _eignn; echo "${COMPREPLY[@]}"',
             "/dev/stdin"], input=eignn("completion", "bash"), capture_output=True, text=True)
        self.assertEqual((answer.stdout.strip(), answer.stderr), ("--redraw", ""))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_completion(self):
        subprocess.run(["zsh", "-n", "/dev/stdin"], input=eignn("completion", "zsh"), text=True, check=True)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_reads_its_completion(self):
        subprocess.run(["fish", "-n", "/dev/stdin"], input=eignn("completion", "fish"), text=True, check=True)

    def test_the_man_page_has_all_of_it(self):
        page = eignn("manual", "man")
        self.assertTrue(page.startswith(".TH EIGNN 1 "))
        sections = page.replace("\\-", "-").split("\n.SS ")
        for words, flags in self.commands.items():
            if words:
                (section,) = [s for s in sections if re.match(rf"eignn {re.escape(words)}( \[| COMMAND)", s)]
                for flag in flags:
                    self.assertIn(f"\\fB{flag}\\fR", section, words)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-Kutf8"], input=page, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")

    def test_the_page_of_commands_is_what_the_program_says(self):
        self.assertTrue((ROOT / "docs/commands.md").read_text(encoding="utf-8") == eignn("manual", "markdown"),
                        "docs/commands.md is another one: eignn manual markdown > docs/commands.md")

    def test_the_version_is_one(self):
        version = re.match(r"eignn (\d+\.\d+\.\d+) ", eignn("--version")).group(1)
        self.assertIn(f"\nversion: {version}\n", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))
        newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE).group(1)
        self.assertEqual(newest, version)

    def test_other_formats_are_refused(self):
        self.assertIn("man or markdown", eignn("manual", code=2))
        self.assertIn("did you mean markdown", eignn("manual", "markdow", code=2))
        self.assertIn("bash, zsh or fish", eignn("completion", code=2))


if __name__ == "__main__":
    EIGNN = sys.argv.pop(1)
    unittest.main()
