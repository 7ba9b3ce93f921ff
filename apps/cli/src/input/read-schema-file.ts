import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";

/** Reads a JSON Schema file. Throws one clear error about it. */
export async function readSchemaFile(cwd: string, path: string): Promise<z.ZodType> {
  return toZod(await readJson(cwd, path, "--schema"), path);
}

/** Reads a JSON Schema from a file or from the argument itself. Validates it and returns it unchanged. */
export async function readJsonSchema(cwd: string, pathOrJson: string): Promise<Record<string, unknown>> {
  const isJson = pathOrJson.trimStart().startsWith("{");
  const name = isJson ? "after --json-schema" : pathOrJson;
  const json = isJson ? parseJson(pathOrJson, name) : await readJson(cwd, pathOrJson, "--json-schema");
  await toZod(json, name);
  return json as Record<string, unknown>;
}

async function readJson(cwd: string, path: string, flag: string): Promise<unknown> {
  const source = await readFile(resolve(cwd, path), "utf8").catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "ENOENT" ? "it does not exist" : `${cause.code}`;
    throw badSchema(`Cannot read the schema ${path}: ${reason}.`, `Check the path after ${flag}.`, cause);
  });
  return parseJson(source, path);
}

function parseJson(source: string, name: string): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw badSchema(`The schema ${name} is not valid JSON: ${(cause as Error).message}.`, "Fix the schema.", cause);
  }
}

export async function toZod(json: unknown, path: string): Promise<z.ZodType> {
  const { checkJsonSchema } = await import("../check-json-schema.ts");
  const problems = checkJsonSchema(json);
  if (problems.length > 0) {
    const all =
      problems.length === 1 ? ` ${problems[0]}.` : `\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
    throw badSchema(`The schema ${path} is not usable:${all}`, "Fix the schema.");
  }
  try {
    const { $schema, $defs } = json as { $schema?: unknown; $defs?: unknown };
    // Without `$schema`, the keyword `$defs` indicates the newer draft.
    const defaultTarget = $schema === undefined && $defs === undefined ? "draft-7" : "draft-2020-12";
    const schema = z.fromJSONSchema(json as z.core.JSONSchema.JSONSchema, { defaultTarget });
    if (z.toJSONSchema(schema, { target: "draft-7", io: "input" }).type === "object") return schema;
  } catch (cause) {
    throw badSchema(`The schema ${path} is not usable: ${(cause as Error).message}.`, "Fix the schema.", cause);
  }
  throw badSchema(
    `The schema ${path} does not describe an object at its root.`,
    'Start with {"type": "object", "properties": {…}}; wrap a list as one of the properties.',
  );
}

const badSchema = (message: string, fix: string, cause?: unknown) =>
  new TandemError("bad_schema", message, { fix, cause });
