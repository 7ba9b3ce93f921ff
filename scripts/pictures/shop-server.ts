import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { startRehearsal } from "@tandem/rehearsal";
import { SHOP_CODE } from "./shop-code.ts";
import { story } from "./story.ts";

const TANDEM = join(import.meta.dirname, "..", "..", "apps", "cli", "src", "main.ts");

/** `tandem up` in the project of Harbour Bikes: a catalogue, a wiki and proposals, code, and a rehearsed model. */
export interface ShopServer extends AsyncDisposable {
  url: string;
  project: string;
  /** With the token of the server's owner, or with another. */
  api: <T>(path: string, body?: unknown, token?: string) => Promise<T>;
}

export async function startShopServer(base: string, port: number): Promise<ShopServer> {
  const project = join(base, "harbour-bikes");
  const state = join(base, "state");
  await mkdir(base, { recursive: true });
  const variables = {
    PATH: process.env["PATH"],
    HOME: base,
    TMPDIR: base,
    NO_PROXY: "127.0.0.1",
    LANG: "C.UTF-8",
    TANDEM_HOME: state,
    CLAUDE_CONFIG_DIR: join(base, "claude"),
    HARBOUR_KEY: "sk-ant-made-up",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Mira",
    GIT_AUTHOR_EMAIL: "mira@harbour.example",
    GIT_COMMITTER_NAME: "Mira",
    GIT_COMMITTER_EMAIL: "mira@harbour.example",
  };
  const tandem = (args: readonly string[], cwd: string): ChildProcess =>
    spawn(process.execPath, [TANDEM, ...args], { cwd, env: variables, stdio: ["ignore", "pipe", "ignore"] });
  const finish = async (args: readonly string[], cwd = project): Promise<void> => {
    const child = tandem(args, cwd);
    child.stdout!.resume();
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`tandem ${args.join(" ")} ended with ${code}.`);
  };

  await finish(["demo", "context", project, "--json"], base);
  // No session may work in a folder with the server's own state.
  await rename(join(project, ".tandem"), state);
  for (const [name, text] of Object.entries(SHOP_CODE)) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, env: variables, stdio: "ignore" });
  git("init", "--initial-branch", "main");
  git("add", "--all");
  git("commit", "--message", "The shop as it is");

  const rehearsal = await startRehearsal(story(project));
  const settings = join(project, "tandem.yaml");
  const llm = `llm:\n  claudeCode: { auth: api_key, apiKey: "env:HARBOUR_KEY", baseUrl: "${rehearsal.url}" }\n`;
  await writeFile(settings, `${await readFile(settings, "utf8")}${llm}`);
  await finish(["trust"]);
  const server = tandem(["up", "--json", "--port", String(port)], project);
  const url = await addressOf(server);
  const token = (await readFile(join(state, "token"), "utf8")).trim();
  return {
    url,
    project,
    async api<T>(path: string, body?: unknown, own = token) {
      const response = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${own}`, "content-type": "application/json" },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
    async [Symbol.asyncDispose]() {
      server.kill("SIGTERM");
      if (server.exitCode === null) await once(server, "exit");
      await rehearsal[Symbol.asyncDispose]();
      await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith("{")) continue;
    child.stdout!.resume();
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error("The server did not come up.");
}
