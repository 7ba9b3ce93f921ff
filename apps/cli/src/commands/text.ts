import { callModel, showReport, type CallOptions } from "../call-model.ts";
import type { Context } from "../context.ts";
import { printable, write } from "../terminal.ts";

export type TextOptions = CallOptions;

export async function text(context: Context, words: readonly string[], options: TextOptions): Promise<void> {
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
