// Builds the page (apps/web) if its sources have changed since the last build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstLoad, MAX_FIRST_LOAD_KB } from "./first-load.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "apps", "web");
const stamp = join(folder, "dist", ".stamp");

/** Throws with the build's output if it fails, or if the first load exceeds its size limit. */
export function buildPage(): void {
  const wanted = identity();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production" },
  });
  if (status !== 0) throw new Error(`The page could not be built:\n${stdout}${stderr}`);
  const { kilobytes, files } = firstLoad(join(folder, "dist"));
  if (kilobytes > MAX_FIRST_LOAD_KB) {
    throw new Error(
      `The page loads ${kilobytes.toFixed(0)} kB of JavaScript before it shows anything, and ${MAX_FIRST_LOAD_KB} is the most: import what is heavy when it is wanted. Loaded at once: ${files.join(", ")}`,
    );
  }
  const checked = globSync("assets/*.js", { cwd: join(folder, "dist") }).filter((file) =>
    readFileSync(join(folder, "dist", file), "utf8").includes("_zod"),
  );
  if (checked.length > 0) {
    throw new Error(
      `The page has zod in it (${checked.join(", ")}), which tries to evaluate text, and the page's policy forbids that: move the values that the page needs to packages/protocol/src/words.ts.`,
    );
  }
  writeFileSync(stamp, wanted);
}

function identity(): string {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  const own = globSync(["index.html", "*.ts", "public/**/*.*", "src/**/*.*"], { cwd: folder });
  const protocol = globSync("packages/{protocol,client}/src/**/*.ts", { cwd: root });
  for (const file of own.sort()) hash.update(file).update(readFileSync(join(folder, file)));
  for (const file of protocol.sort()) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

if (import.meta.main) buildPage();
