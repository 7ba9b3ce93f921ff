import { callModel, showReport, type CallOptions } from "../../call-model.ts";
import type { Invocation } from "../../invocation.ts";
import { printable, write, writeJson } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";
import { callOptions } from "./call-options.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    callOptions(command, json).action(runner(text)),
    'tandem text "Name three rivers"',
    'git diff | tandem text "Review this diff" --model opus',
    "tandem text --json < prompt.txt | jq -r .text",
  );
}

export type TextOptions = CallOptions;

export async function text(invocation: Invocation, words: readonly string[], options: TextOptions): Promise<void> {
  const { answer, report } = await callModel(invocation, words, options, (runtime, request) =>
    runtime.generateText(request),
  );
  if (invocation.json) return writeJson(invocation.stdout, { text: answer, report });
  const shown = invocation.stdout.isTTY ? printable(answer) : answer;
  await write(invocation.stdout, shown.endsWith("\n") ? shown : `${shown}\n`);
  await showReport(invocation, report);
}
