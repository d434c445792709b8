// Builds the page into one file, dist/report.html: script and style inline, allowed by their hashes alone, and the
// digest of the sources, by which a machine without npm can tell whether the file is their build.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { sourceDigest } from "./digest.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const sha256 = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const parts = Object.values(bundle);
      const script = parts.find((part) => part.type === "chunk" && part.isEntry);
      const style = parts.find((part) => part.type === "asset" && part.fileName.endsWith(".css"));
      // Within a script element these would end it, or hide its end; in strings and expressions of ours they mean the same.
      const code = script.code.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
      const css = String(style.source).trim();
      const page = readFileSync(join(here, "template.html"), "utf8")
        .replace("{{digest}}", () => sourceDigest(here))
        .replace("{{policy}}", () =>
          ["default-src 'none'", `script-src ${sha256(code)}`, `style-src ${sha256(css)}`, "base-uri 'none'", "form-action 'none'"].join("; "))
        .replace("{{style}}", () => css)
        .replace("{{script}}", () => code);
      if (/@[A-Za-z0-9_./+-]+@/.test(page)) throw new Error("CMake would take @…@ in the page for one of its variables");
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: "asset", fileName: "report.html", source: page });
    },
  };
}

export default defineConfig({
  root: here,
  build: {
    outDir: "dist",
    target: "es2020",
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: { input: join(here, "src/main.ts"), output: { format: "iife" } },
  },
  plugins: [oneFile()],
});
