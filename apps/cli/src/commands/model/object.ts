import { callModel, showReport, type CallOptions } from "../../call-model.ts";
import type { Invocation } from "../../invocation.ts";
import { readSchemaFile } from "../../input/read-schema-file.ts";
import { writeJson } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";
import { callOptions } from "./call-options.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    callOptions(command, json)
      .requiredOption("--schema <file>", "a JSON Schema file with an object at its root")
      .action(runner(object)),
    'tandem object --schema person.json "Ada Lovelace, born 1815"',
    "tandem object --schema invoice.json < invoice.txt",
  );
}

export interface ObjectOptions extends CallOptions {
  schema: string;
}

export async function object(invocation: Invocation, words: readonly string[], options: ObjectOptions): Promise<void> {
  const schema = await readSchemaFile(invocation.cwd, options.schema);
  const { answer, report } = await callModel(invocation, words, options, (runtime, request) =>
    runtime.generateObject({ ...request, schema }),
  );
  await writeJson(invocation.stdout, invocation.json ? { object: answer, report } : answer);
  if (!invocation.json) await showReport(invocation, report);
}
