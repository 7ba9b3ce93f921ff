import { startRehearsal, type Script } from "@tandem/rehearsal";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pipesOf, type OpenCommand, type Outcome, type PipedCommand } from "./open-command.ts";
import { seedModels } from "./seed-models.ts";
import { scratchMachine, type CommandOptions, type RunOptions } from "./run-tandem.ts";

/** A scratch machine whose sessions run on the real Claude Code against a rehearsal. */
export async function sessionMachine(script: Script, settings = "", variables: Record<string, string> = {}) {
  const rehearsal = await startRehearsal(script);
  // Tests count processes, and most have no second session that could use one started ahead.
  const spares = /^sessions:/m.test(settings) ? "" : "sessions: { spares: 0 }\n";
  const machine = await scratchMachine(
    `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n${settings}\n${spares}`,
  );
  const env = { SESSION_KEY: "sk-ant-made-up", ...variables };
  const withKey = (options?: RunOptions) => ({ ...options, env: { ...env, ...options?.env } });
  await machine.trust();
  await seedModels(machine);
  return {
    ...machine,
    rehearsal,
    start: (args: readonly string[], options?: RunOptions) => machine.start(args, withKey(options)),
    run: (args: readonly string[], options?: CommandOptions) => machine.run(args, withKey(options)),
    runProcess: (args: readonly string[], options?: RunOptions) => machine.runProcess(args, withKey(options)),
    open: (args: readonly string[], options?: CommandOptions) => machine.open(args, withKey(options)),
    /** A server in this process. */
    up: (...args: string[]) => openUp(machine.open([...UP, ...args], withKey())),
    /** A server in its own process, for tests that kill it or look at its process. */
    upProcess: (...args: string[]) => startUp(machine.start([...UP, ...args], withKey())),
    async [Symbol.asyncDispose]() {
      await rehearsal.close();
      await machine[Symbol.asyncDispose]();
    },
  };
}

const UP = ["up", "--json", "--port", "0"];

export interface RunningUp extends AsyncDisposable {
  url: string;
  tokenFile: string;
  token: string;
  /** Resolves when it exits. */
  outcome: Promise<Outcome>;
  stop(): Promise<Outcome>;
}

export interface UpProcess extends RunningUp {
  child: ChildProcess;
  /** Its log so far. */
  logged: () => string;
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

/** Waits until `tandem up --json` in this process is ready. It is stopped with the test. */
export async function openUp(command: OpenCommand): Promise<RunningUp> {
  const { outcome } = command;
  const stop = () => command.stop();
  return { ...(await ready(command)), outcome, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** Waits until `tandem up --json` in its own process is ready. It is killed with the test. */
export async function startUp(child: ChildProcess): Promise<UpProcess> {
  const pipes = pipesOf(child);
  const { outcome } = pipes;
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return outcome;
  };
  const dispose = async () => void (await stop("SIGKILL"));
  let log = "";
  child.stderr!.on("data", (chunk: string) => (log += chunk));
  return { child, logged: () => log, ...(await ready(pipes)), outcome, stop, [Symbol.asyncDispose]: dispose };
}

async function ready({
  stdin,
  stdout,
  outcome,
}: PipedCommand): Promise<Pick<RunningUp, "url" | "tokenFile" | "token">> {
  stdin.end();
  const first = once(createInterface({ input: stdout }), "line") as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    outcome.then(({ stderr }): never => {
      throw new Error(`tandem up ended: ${stderr}`);
    }),
  ]);
  const { url, token_file: tokenFile } = JSON.parse(line) as { url: string; token_file: string };
  return { url, tokenFile, token: (await readFile(tokenFile, "utf8")).trim() };
}
