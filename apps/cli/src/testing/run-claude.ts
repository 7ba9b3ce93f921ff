import { findExecutable } from "@tandem/claude-code";
import { spawn } from "node:child_process";
import { outcomeOf, type Outcome } from "./open-command.ts";

interface TestMachine {
  project: string;
  variables: Record<string, string>;
  rehearsal: { url: string };
}

/** Runs the real `claude --print` against the rehearsal, as a user without Tandem would. */
export async function runClaude({ project, variables, rehearsal }: TestMachine, ...args: string[]): Promise<Outcome> {
  const child = spawn(findExecutable(), ["--print", ...args], {
    cwd: project,
    env: {
      ...variables,
      ANTHROPIC_API_KEY: "sk-ant-made-up",
      ANTHROPIC_BASE_URL: rehearsal.url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      // Allows tests to run as root. The permission mode is irrelevant here.
      IS_SANDBOX: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outcome = await outcomeOf(child);
  if (outcome.code !== 0) throw new Error(`claude ended with ${outcome.code}: ${outcome.stdout}${outcome.stderr}`);
  return outcome;
}
