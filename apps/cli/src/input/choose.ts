import { createInterface } from "node:readline/promises";
import type { Invocation } from "../invocation.ts";

/** Whether a person can be asked. */
export const canAsk = ({ stdin, stderr, json }: Pick<Invocation, "stdin" | "stderr" | "json">): boolean =>
  stdin.isTTY && stderr.isTTY && !json;

/** Asks until one of the keys is typed. An empty answer means the first. */
export async function choose<Key extends string>(
  { stdin, stderr, signal }: Pick<Invocation, "stdin" | "stderr" | "signal">,
  question: string,
  choices: Readonly<Record<Key, string>>,
): Promise<Key> {
  const keys = Object.keys(choices) as Key[];
  const list = keys.map((key) => `${key} ${choices[key]}`).join("  ");
  const terminal = createInterface({ input: stdin, output: stderr });
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    for (;;) {
      const answer = (await terminal.question(`${question}\n  ${list}: `, { signal })).trim().toLowerCase();
      const key = answer === "" ? keys[0] : keys.find((each) => each === answer);
      if (key !== undefined) return key;
    }
  } finally {
    terminal.close();
  }
}
