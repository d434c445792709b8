// The digest of what the page is built from. tests/report/page_template_test.py computes the same without npm.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const fixed = ["digest.mjs", "package-lock.json", "package.json", "template.html", "tsconfig.json", "vite.config.mjs"];

export function sourceDigest(folder) {
  const sources = readdirSync(join(folder, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
  const hash = createHash("sha256");
  for (const name of [...fixed, ...sources].sort()) {
    const bytes = readFileSync(join(folder, name));
    hash.update(`${name} ${bytes.length}\n`);
    hash.update(bytes);
  }
  return hash.digest("hex");
}
