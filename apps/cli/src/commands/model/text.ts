import { callModel, showReport, type CallOptions } from "../../call-model.ts";
import type { Invocation } from "../../invocation.ts";
import { printable, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";
import { callOptions } from "./call-options.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    callOptions(command, json).action((words: string[], options: TextOptions, self: Command) =>
      runner(self, (context) => text(context, words, options)),
    ),
    'tandem text "Name three rivers"',
    'git diff | tandem text "Review this diff" --model opus',
    "tandem text --json < prompt.txt | jq -r .text",
  );
}

export type TextOptions = CallOptions;

export async function text(context: Invocation, words: readonly string[], options: TextOptions): Promise<void> {
  const { answer, report } = await callModel(context, words, options, (runtime, request) =>
    runtime.generateText(request),
  );
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ text: answer, report }, null, 2)}\n`);
    return;
  }
  const shown = context.stdout.isTTY ? printable(answer) : answer;
  await write(context.stdout, shown.endsWith("\n") ? shown : `${shown}\n`);
  await showReport(context, report);
}
