import type { Command } from "commander";
import type { Context } from "../context.ts";
import type { Shell } from "../option-choices.ts";
import { completionScript } from "../completion-script.ts";
import { write } from "../terminal.ts";

export async function completion({ stdout }: Context, shell: Shell, program: Command): Promise<void> {
  await write(stdout, completionScript(shell, program));
}
