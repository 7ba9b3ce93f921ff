#!/usr/bin/env node
import { hideVariables, mayShowCredentials, restoreEnvironment } from "./clean-environment.mjs";
import { builtin, currentMajor, refuseOldNode, WANTED_MAJOR } from "./node-version.mjs";

/** Commands that host agents, whose commands could look at this process. */
const HOSTING = new Set(["up", "run", "stdio", "acp"]);

refuseOldNode();
const { mkdirSync, readFileSync } = await builtin("node:fs");
// `npx PACKAGE` opens the page at once: on the user's login, or as the demo without one.
if (process.argv.length === 2 && process.env.npm_command === "exec") process.argv.push("up", "--demo", "if-needed");
const isClean = restoreEnvironment();
const args = process.argv.slice(2);
const isExposed = !isClean && args.some((arg) => HOSTING.has(arg)) && mayShowCredentials();
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Any Node can answer this, and scripts ask it often.
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else if (currentMajor() >= WANTED_MAJOR && !(isExposed && !hideVariables())) {
  await keepCompiledCode();
  await import("../src/main.ts");
} else {
  const { become, becomeClean, findNode24, installNode24 } = await import("./node24.mjs");
  const self = (await builtin("node:url")).fileURLToPath(import.meta.url);
  const node = currentMajor() >= WANTED_MAJOR ? process.execPath : (findNode24(self) ?? installNode24());
  if (!node) {
    console.error(
      `Tandem runs on Node ${WANTED_MAJOR}, and it could not be installed. Install it from https://nodejs.org and try again.`,
    );
    process.exit(1);
  }
  if (isExposed) becomeClean(node, self, args);
  else become(node, self, args);
}

/** Halves the time to start. In the user's own folder: code that others could replace must not be run. */
async function keepCompiledCode() {
  const { enableCompileCache } = await builtin("node:module");
  const [{ join }, { homedir }] = [await builtin("node:path"), await builtin("node:os")];
  const folder = join(process.env.TANDEM_HOME || join(homedir(), ".tandem"), "cache");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    enableCompileCache(folder);
  } catch {
    // Without it everything works, only slower.
  }
}
