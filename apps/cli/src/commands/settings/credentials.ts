import { homedir } from "node:os";
import { readCredentials, wireReport } from "@tandem/tandem/health";
import { renderCredentials } from "../../credentials/render-credentials.ts";
import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { styleFor, widthOf, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command.addOption(json()).action(runner(credentials)),
    "tandem credentials",
    "tandem credentials --json | jq '.places[] | select(.state == \"found\") | .id'",
  );
}

/** Lists credentials and the ones in use: kinds and sources, never values. Read-only; sends nothing. */
export async function credentials(invocation: Invocation): Promise<void> {
  const { env, cwd, stdout } = invocation;
  const project = await openProjectOrDefaults(invocation);
  const { report, uses } = await readCredentials({ env, cwd }, project);
  const look = { style: styleFor(stdout), home: env["HOME"] || homedir(), width: widthOf(stdout) };
  await writeResult(invocation, wireReport(report, uses), [renderCredentials(report, uses, look)]);
}
