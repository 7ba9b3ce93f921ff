// Runs a script under Node 24, also if an older Node started this process. Plain JavaScript for Node 20.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { constants, homedir } from "node:os";
import { dirname, join, parse } from "node:path";
import { cleanStart, hideVariables } from "./clean-environment.mjs";
import { currentMajor, WANTED_MAJOR } from "./node-version.mjs";

/** The version that is installed for users of an older Node. Tests use the same one. */
export const INSTALLED_VERSION = "24.21.0";

const ownFolder = () => join(process.env.TANDEM_HOME || join(homedir(), ".tandem"), "node");
const binaryIn = (folder) =>
  join(folder, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** The Node binary of the npm package `node`: a dependency of the file at `from`, or installed by `installNode24`. */
export function findNode24(from) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    if (existsSync(binaryIn(folder))) return binaryIn(folder);
    if (folder === parse(folder).root) break;
  }
  if (currentMajor() >= WANTED_MAJOR) return process.execPath;
  return existsSync(binaryIn(ownFolder())) ? binaryIn(ownFolder()) : undefined;
}

/**
 * Installs Node 24 into TANDEM_HOME, once. The package does not depend on it, because most users have Node 24 and it
 * takes 190 MB. Returns undefined if that failed; npm has then printed why.
 */
export function installNode24() {
  const folder = ownFolder();
  console.error(
    `Tandem runs on Node ${WANTED_MAJOR}; this is Node ${process.versions.node}. Installing Node ${WANTED_MAJOR} into ${folder} (once, 190 MB) …`,
  );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const manifest = { private: true, dependencies: { node: INSTALLED_VERSION }, allowScripts: { node: true } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const args = ["install", "--prefix", folder, "--ignore-scripts=false", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const [program, words] = npm ? [process.execPath, [npm, ...args]] : ["npm", args];
  // npx passes its own settings to programs as variables, among them the folder that it installs into.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(local_|global_)?prefix$|^npm_config_global$/i.test(name),
    ),
  );
  const { status } = spawnSync(program, words, { cwd: folder, stdio: ["ignore", 2, 2], env });
  return status === 0 && existsSync(binaryIn(folder)) ? binaryIn(folder) : undefined;
}

/** Becomes `node file …args`: same terminal, same signals, same exit code. */
export function become(node, file, args) {
  supervise(node, [file, ...args], withNode(node, process.env));
}

/** The same without credentials among the variables that other processes can see. */
export function becomeClean(node, file, args) {
  const { program, args: words, env } = cleanStart(node, file, args);
  const variables = withNode(node, env);
  // Replaces this process. Node 20 cannot, and has to stay.
  if (process.execve) process.execve(program, [program, ...words], variables);
  supervise(program, words, variables);
  hideVariables();
}

const withNode = (node, env) => ({
  ...env,
  PATH: `${dirname(node)}${process.platform === "win32" ? ";" : ":"}${env.PATH ?? ""}`,
});

function supervise(program, args, env) {
  const child = spawn(program, args, { stdio: "inherit", env });
  // A terminal sends Ctrl-C to the child as well, and this process only has to outlive it; anyone else sends it here.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`Could not start ${program}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1)));
}
