// node scripts/launch.mjs FILE …args: install once, then run FILE under Node 24.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseOldNode, WANTED_MAJOR } from "../apps/cli/bin/node-version.mjs";
import { become, findNode24 } from "../apps/cli/bin/node24.mjs";

refuseOldNode();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules", ".tandem-install");
const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform}-${process.arch}`)
  .digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  console.error("Installing dependencies (once; the Claude Code binary alone is about 350 MB) …");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ["ignore", 2, 2] })
    : spawnSync("npm", args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) {
    console.error("npm ci failed (its message is above). Fix the cause, then run the same command again.");
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}

const node = findNode24(join(root, "scripts", "launch.mjs"));
if (!node) {
  console.error(
    `Node ${WANTED_MAJOR} is missing from node_modules: its install script did not run. Check that npm's ignore-scripts is off, remove node_modules and try again.`,
  );
  process.exit(1);
}
const [file, ...args] = process.argv.slice(2);
become(node, join(root, file), args);
