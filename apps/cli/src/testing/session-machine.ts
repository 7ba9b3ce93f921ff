import { startRehearsal, type Script } from "@tandem/rehearsal";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { outcomeOf, scratchMachine, type CommandOptions, type Outcome, type RunOptions } from "./run-tandem.ts";

/** A scratch machine whose sessions run on the real Claude Code against a rehearsal. */
export async function sessionMachine(script: Script, settings = "", variables: Record<string, string> = {}) {
  const rehearsal = await startRehearsal(script);
  const machine = await scratchMachine(
    `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${rehearsal.url}" }\n${settings}`,
  );
  const env = { SESSION_KEY: "sk-ant-made-up", ...variables };
  const withKey = <O extends CommandOptions>(options?: O) => ({ ...options, env: { ...env, ...options?.env } });
  await machine.trust();
  return {
    ...machine,
    rehearsal,
    start: (args: readonly string[], options?: RunOptions) => machine.start(args, withKey(options)),
    run: (args: readonly string[], options?: CommandOptions) => machine.run(args, withKey(options)),
    runProcess: (args: readonly string[], options?: RunOptions) => machine.runProcess(args, withKey(options)),
    up: (...args: string[]) => startUp(machine.start(["up", "--json", "--port", "0", ...args], withKey())),
    async [Symbol.asyncDispose]() {
      await rehearsal.close();
      await machine[Symbol.asyncDispose]();
    },
  };
}

export interface RunningUp extends AsyncDisposable {
  child: ChildProcess;
  url: string;
  tokenFile: string;
  token: string;
  /** Resolves when it exits. */
  outcome: Promise<Outcome>;
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

/** Waits until `tandem up --json` is ready. It is ended with the test. */
export async function startUp(child: ChildProcess): Promise<RunningUp> {
  child.stdin?.end();
  const outcome = outcomeOf(child);
  const first = once(createInterface({ input: child.stdout! }), "line") as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    outcome.then(({ stderr }): never => {
      throw new Error(`tandem up ended: ${stderr}`);
    }),
  ]);
  const { url, token_file: tokenFile } = JSON.parse(line) as { url: string; token_file: string };
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return outcome;
  };
  return {
    child,
    url,
    tokenFile,
    token: (await readFile(tokenFile, "utf8")).trim(),
    outcome,
    stop,
    async [Symbol.asyncDispose]() {
      await stop("SIGKILL");
    },
  };
}
