// Runs a script under Node 24, whatever Node started us. Plain JavaScript for Node 20: it is what runs
// before anything newer can.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, parse } from "node:path";
import { cleanStart, eraseInitialEnvironment } from "./clean-environment.mjs";

export const WANTED_MAJOR = 24;
const OLDEST_MAJOR = 20;

export const currentMajor = () => Number(process.versions.node.split(".")[0]);

/** One clear sentence instead of a syntax error from some dependency. */
export function refuseOldNode() {
  if (currentMajor() >= OLDEST_MAJOR) return;
  console.error(
    `Tandem needs Node ${OLDEST_MAJOR} or newer to start (it brings Node ${WANTED_MAJOR} itself); this is Node ${process.versions.node}. Install a newer Node from https://nodejs.org and try again.`,
  );
  process.exit(1);
}

/** The Node binary of the npm package `node`, looked up like any dependency of the file at `from`. */
export function findNode24(from) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
    if (existsSync(candidate)) return candidate;
    if (folder === parse(folder).root) break;
  }
  return currentMajor() >= WANTED_MAJOR ? process.execPath : undefined;
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
  eraseInitialEnvironment();
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
