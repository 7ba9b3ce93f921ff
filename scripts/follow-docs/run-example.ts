import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { outcomeOf } from "../../apps/cli/src/testing/open-command.ts";

const EXAMPLES = join(import.meta.dirname, "../../docs/examples");

/** Runs an example as a user would, and returns the lines that it prints. */
export async function runExample(name: string, env: Record<string, string>, cwd = EXAMPLES): Promise<string[]> {
  const child = spawn(process.execPath, [join(EXAMPLES, name)], { env, cwd });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n");
}
