import { callModel, showReport, type CallOptions } from "../call-model.ts";
import type { Context } from "../context.ts";
import { readSchemaFile } from "../read-schema-file.ts";
import { write } from "../terminal.ts";

export interface ObjectOptions extends CallOptions {
  schema: string;
}

export async function object(context: Context, words: readonly string[], options: ObjectOptions): Promise<void> {
  const schema = await readSchemaFile(context.cwd, options.schema);
  const { answer, report } = await callModel(context, words, options, (runtime, request) =>
    runtime.generateObject({ ...request, schema }),
  );
  await write(context.stdout, `${JSON.stringify(context.json ? { object: answer, report } : answer, null, 2)}\n`);
  if (!context.json) await showReport(context, report);
}
