#!/usr/bin/python3
"""Whether web/dist/report.html is the build of the sources in web/, told by the digest that the build has put into it.

    page_template_test.py SOURCE_FOLDER

Needs no npm. `./dev page-test` builds the page again and compares it byte by byte.
"""
import base64
import hashlib
import pathlib
import re
import sys

FIXED = ["digest.mjs", "package-lock.json", "package.json", "template.html", "tsconfig.json", "vite.config.mjs"]


def source_digest(web):
    """As web/digest.mjs has it."""
    sources = [path.relative_to(web).as_posix() for path in (web / "src").rglob("*") if path.is_file()]
    digest = hashlib.sha256()
    for name in sorted(FIXED + sources):
        content = (web / name).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def allowed(page, kind, content):
    """Whether the policy of the page allows this script or style by its hash."""
    value = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"{kind} 'sha256-{value}'" in page


def main():
    web = pathlib.Path(sys.argv[1]) / "web"
    page = (web / "dist" / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<meta name="eignn-sources" content="([0-9a-f]{64})">', page)
    wrong = []
    if not found or found.group(1) != source_digest(web):
        wrong.append("web/dist/report.html is not the build of these sources: run `./dev page`")
    if page.count('"the data of the report"') != 1:
        wrong.append("the page has no one place for the data")
    if re.search(r"@[A-Za-z0-9_./+-]+@", page):
        wrong.append("CMake would take @…@ in the page for one of its variables")
    script = re.search(r"</script>\n<script>(.*)</script>\n</body>", page, re.S)
    style = re.search(r"<style>(.*)</style>\n</head>", page, re.S)
    for kind, part in (("script-src", script), ("style-src", style)):
        if not part or not allowed(page, kind, part.group(1)):
            wrong.append(f"the policy of the page does not allow its own {kind[:-4]}: it was changed after the build")
    if re.search(r"""(src|href)=["']?(https?:)?//""", page):
        wrong.append("the page names another place to load from")
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
