import { TandemError } from "@tandem/protocol";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Invocation } from "../invocation.ts";
import { readStandardInput } from "../input/read-prompt.ts";

/**
 * Reads a secret from a variable, a pipe or a hidden prompt. Never from an argument: other users could see it in the list of
 * processes, and the shell would keep it in its history.
 */
export async function readSecret(invocation: Invocation, question: string, variable?: string): Promise<string> {
  const secret = await readSource(invocation, question, variable);
  if (secret !== "") return secret;
  throw new TandemError("usage", "The secret is empty.", {
    fix: "Type it at the prompt, pipe it in, or name a variable with --secret-env.",
  });
}

async function readSource(invocation: Invocation, question: string, variable?: string): Promise<string> {
  if (variable !== undefined) {
    const found = invocation.env[variable];
    if (found !== undefined) return found.trim();
    throw new TandemError("usage", `The variable ${variable} is not set.`, {
      fix: `Set it for this command only, such as: ${variable}=… tandem vaults add …`,
    });
  }
  if (!invocation.stdin.isTTY) return (await readStandardInput(invocation)).trim();
  return askHidden(invocation, question);
}

async function askHidden({ stdin, stderr, signal }: Invocation, question: string): Promise<string> {
  stderr.write(`${question} (not shown): `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: silent, terminal: true, historySize: 0 });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    return (await terminal.question("", { signal })).trim();
  } finally {
    terminal.close();
    stderr.write("\n");
  }
}
