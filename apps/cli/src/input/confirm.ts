import { TandemError } from "@tandem/protocol";
import { createInterface } from "node:readline/promises";
import type { Invocation } from "../invocation.ts";

/** Asks before an irreversible action. Throws if there is no terminal to ask on. */
export async function confirm(
  { stdin, stderr, json, signal }: Invocation,
  what: string,
  question: string,
): Promise<void> {
  if (!stdin.isTTY || !stderr.isTTY || json) {
    throw new TandemError("usage", "There is no terminal for a confirmation.", { fix: "Add --yes if you are sure." });
  }
  const terminal = createInterface({ input: stdin, output: stderr });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    const answer = await terminal.question(`${what}${question} (y/n) `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new TandemError("declined", "Cancelled. Nothing was changed.");
  } finally {
    terminal.close();
  }
}
