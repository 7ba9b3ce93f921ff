import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// Everything that the example needs, on this machine and without a login: a rehearsed model, a repository, a server with one
// budget over all. In a scratch folder that is removed at the end, or in the one that is named, which stays.

const TANDEM = join(import.meta.dirname, "../../apps/cli/bin/tandem.mjs");
const RIVERS = ["amazon", "congo", "danube", "ganges", "mekong", "nile", "volga"];

const [named, count = "7"] = process.argv.slice(2);
const folder = named ?? mkdtempSync(join(tmpdir(), "seven-at-once-"));
const repository = join(folder, "rivers");
const home = join(folder, "home");
const variables = {
  PATH: process.env["PATH"] ?? "",
  TMPDIR: process.env["TMPDIR"] ?? tmpdir(),
  HOME: home,
  TANDEM_HOME: join(home, ".tandem"),
  CLAUDE_CONFIG_DIR: join(home, ".claude"),
  NO_PROXY: "127.0.0.1",
  REHEARSAL_KEY: "sk-ant-made-up",
};

const running: ChildProcess[] = [];

/** Starts a command, and resolves with the first line that it prints. */
async function start(command: string, ...args: string[]): Promise<Record<string, string>> {
  const child = spawn(process.execPath, [TANDEM, command, ...args, "--json"], {
    cwd: repository,
    env: variables,
    stdio: ["ignore", "pipe", openSync(join(folder, "log.txt"), "a")],
  });
  running.push(child);
  const line = once(createInterface({ input: child.stdout! }), "line") as Promise<[string]>;
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`tandem ${command} ended.`)));
  ended.catch(() => undefined);
  return JSON.parse((await Promise.race([line, ended]))[0]) as Record<string, string>;
}

function makeRepository(): void {
  mkdirSync(join(repository, "rivers"), { recursive: true });
  mkdirSync(home, { recursive: true });
  for (const river of RIVERS) writeFileSync(join(repository, "rivers", `${river}.md`), `# The ${river}\n\nTODO\n`);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repository, env: variables });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git(
    "-c",
    "user.name=You",
    "-c",
    "user.email=you@example.com",
    "commit",
    "--quiet",
    "--message",
    "Rivers to write about",
  );
}

/** Backend, billing and the spending limit of all sessions of the project. It belongs to the stage, not to the repository. */
function configure(model: string): void {
  const config = `llm:
  claudeCode: { auth: api_key, apiKey: "env:REHEARSAL_KEY", baseUrl: "${model}" }
budgets:
  project: { usd: 5 }
`;
  writeFileSync(join(repository, ".git", "info", "exclude"), "tandem.yaml\n");
  writeFileSync(join(repository, "tandem.yaml"), config);
  execFileSync(process.execPath, [TANDEM, "trust"], { cwd: repository, env: variables });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

try {
  makeRepository();
  const { url: model = "" } = await start("rehearse", "serve", join(import.meta.dirname, "rehearsed.ts"));
  configure(model);
  const { url = "", token_file: tokenFile = "" } = await start("up", "--port", "0");
  const example = spawn(process.execPath, [join(import.meta.dirname, "seven-at-once.ts"), repository, count], {
    env: { ...variables, TANDEM_URL: url, TANDEM_TOKEN: readFileSync(tokenFile, "utf8").trim() },
    stdio: ["ignore", "inherit", "inherit"],
  });
  running.unshift(example);
  const [code] = (await once(example, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  // The server first: it ends its sessions' processes.
  for (const child of running.toReversed()) await end(child);
  if (named === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
