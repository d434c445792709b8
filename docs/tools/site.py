#!/usr/bin/python3
"""The documentation as a site: ./dev docs.

    site.py stage EIGNN   puts the pages where mkdocs.yml expects them: build/docs
    site.py check         every link of the site that was built leads to a page and a part of it, and nothing comes from elsewhere

The pages are those of docs/, README and the like, and results/; docs/cpp-reference.md is made from the comments of include/eignn, and
docs/commands.md from the command itself. Links to other files of the repository lead to copies of them; links to folders become text.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGED, SITE = ROOT / "build/docs", ROOT / "build/site"
HEADERS = ("train", "dataset", "graph", "options", "checkpoint", "model", "explain", "attack", "inspect", "search", "new_node", "solver",
           "propagation", "planner", "execution", "interrupt", "warning", "error", "process")


def place(path):
    """Where a file of the repository lies in the site; None for a folder."""
    path = path.relative_to(ROOT)
    if (ROOT / path).is_dir():
        return None
    if path.parts[0] == "docs":
        return pathlib.Path(*path.parts[1:])
    if path.parts[0] == "results":
        return path
    if len(path.parts) == 1 and path.suffix == ".md":
        return "project" / path
    return "files" / path


def copied(source):
    target = STAGED / place(source)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def with_links(source, text):
    """The page's text with its links as the site has them."""
    here = place(source).parent

    def replaced(match):
        shown, link = match.group(1), match.group(2)
        if re.match(r"[a-z]+:|#", link):
            return match.group(0)
        file, mark, part = link.partition("#")
        target = (source.parent / file).resolve()
        if target != source and place(target) is None:
            return shown.lstrip("!")[1:-1]
        if target.suffix != ".md":
            copied(target)
        return f"{shown}({os.path.relpath(place(target), here)}{mark}{part})"

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`(?!\]))", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("`") else re.sub(r"(!?\[[^\]]*\])\(([^()\s]+)\)", replaced, part) for part in parts)


def declarations(text):
    """The declarations of a header's namespace, each with the comment before it."""
    body = text[text.index("namespace eignn {") + len("namespace eignn {"):text.rindex("}  // namespace eignn")]
    block = []
    depth = 0
    for line in [*body.split("\n"), ""]:
        if not line.strip() and depth == 0:
            if block:
                yield block
            block = []
        else:
            block.append(line)
            code = re.sub(r"//.*|\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])'", "", line)
            depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")


def reference():
    """The page of the C++ interface."""
    out = ["# C++ reference\n", "Made from the headers in `include/eignn`, which are what a program includes. [docs/cpp.md](cpp.md) "
           "is the introduction.\n"]
    for name in HEADERS:
        text = (ROOT / f"include/eignn/{name}.h").read_text(encoding="utf-8")
        out.append(f"\n## eignn/{name}.h\n")
        opening = text.split("#pragma once")[0]
        out.append("\n".join(line[3:] for line in opening.strip().split("\n")) + "\n")
        for block in declarations(text):
            first = next((k for k, line in enumerate(block) if not line.startswith("///")), len(block))
            words, code = block[:first], block[first:]
            known = re.match(r"(?:template.*\n)?(struct|class|enum class|enum) (\w+)", "\n".join(code))
            if not code or (not words and not (known and code[-1].startswith("}"))):
                continue
            if words:
                out.append("\n".join(line[4:] for line in words) + "\n")
            out.append("```cpp\n" + "\n".join(code) + "\n```\n")
    return "\n".join(out)


def stage(eignn):
    shutil.rmtree(STAGED, ignore_errors=True)
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "results").glob("*.md"), *ROOT.glob("*.md")]
    for page in pages:
        target = STAGED / place(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(with_links(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    (STAGED / "cpp-reference.md").write_text(reference(), encoding="utf-8")
    made = subprocess.run([eignn, "manual", "markdown"], capture_output=True, text=True, check=True).stdout
    (STAGED / "commands.md").write_text(made, encoding="utf-8")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.sources, self.parts = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if "id" in named:
            self.parts.add(named["id"])
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in ("script", "img") and named.get("src"):
            self.sources.append(named["src"])
        if tag == "link" and named.get("href") and named.get("rel") in ("stylesheet", "preconnect", "icon"):
            self.sources.append(named["href"])


def check():
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(SITE)
        wrong += [f"{where}: loads {source}" for source in page.sources if re.match(r"(https?:)?//", source)]
        if where.name == "404.html":
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, part = urllib.parse.unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                wrong.append(f"{where}: {link} leads nowhere")
            elif part and target in pages and part not in pages[target].parts:
                wrong.append(f"{where}: {link}: there is no such part")
    print("\n".join(sorted(set(wrong))) or f"{len(pages)} pages, every link leads somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check())
    if len(sys.argv) != 3 or sys.argv[1] != "stage":
        sys.exit(__doc__)
    stage(sys.argv[2])
