#!/usr/bin/python3
"""Every relative link in the Markdown files leads to a file, and every #part to a heading or an anchor of it.

    links.py
"""
import pathlib
import re
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]


def prose(text):
    """Without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = "\n".join("" if line.startswith("    ") else line for line in text.split("\n"))
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """What a # may name: headings as GitHub turns them into names, and <a id=…>."""
    text = path.read_text(encoding="utf-8")
    names = set(re.findall(r'<a id="([^"]+)"', text))
    bare = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for title in re.findall(r"^#+ (.*)$", bare, re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").strip().lower()
        kept = "".join(c for c in title if c in " -_" or unicodedata.category(c)[0] in "LN")
        name, again = kept.replace(" ", "-"), 0
        while (f"{name}-{again}" if again else name) in names:
            again += 1
        names.add(f"{name}-{again}" if again else name)
    return names


def main():
    wrong = 0
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "results").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)?)\)", prose(page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, part = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            if not target.exists():
                print(f"{page.relative_to(ROOT)}: {link} leads nowhere")
                wrong += 1
            elif part and target.suffix == ".md" and part not in anchors(target):
                print(f"{page.relative_to(ROOT)}: {link}: there is no such part")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
