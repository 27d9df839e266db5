// Builds the console into web/dist (or the folder given as an argument), and records there which sources it was
// built from: tests/console/test_bundle.py compares.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));
const outDir = resolve(process.argv[2] ?? join(root, "dist"));

// Everything that the bundle depends on.
function sources() {
  const below = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"));
  const single = ["build.mjs", "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
  return [...single, ...below("src"), ...below("public")].sort((a, b) => (a < b ? -1 : 1));
}

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const lines = sources().map((path) => `${path} ${sha256(readFileSync(join(root, path)))}\n`);

await build({ root, build: { outDir, emptyOutDir: true }, logLevel: "warn" });
writeFileSync(join(outDir, "sources.json"), JSON.stringify({ files: lines.length, sha256: sha256(lines.join("")) }) + "\n");
