import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { checkJsonSchema } from "./check-json-schema.ts";

/** The schema in a JSON Schema file, or one clear error about the file. */
export async function readSchemaFile(cwd: string, path: string): Promise<z.ZodType> {
  const source = await readFile(resolve(cwd, path), "utf8").catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "ENOENT" ? "it does not exist" : `the system says ${cause.code}`;
    throw badSchema(`Cannot read the schema ${path}: ${reason}.`, "Check the path after --schema.", cause);
  });
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (cause) {
    throw badSchema(`The schema ${path} is not valid JSON: ${(cause as Error).message}.`, "Correct the file.", cause);
  }
  return toZod(json, path);
}

export function toZod(json: unknown, path: string): z.ZodType {
  const problems = checkJsonSchema(json);
  if (problems.length > 0) {
    const all =
      problems.length === 1 ? ` ${problems[0]}.` : `\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
    throw badSchema(`The schema ${path} is not usable:${all}`, "Correct the file.");
  }
  try {
    const { $schema, $defs } = json as { $schema?: unknown; $defs?: unknown };
    // Without a version, `$defs` tells the newer form of JSON Schema from the older one.
    const defaultTarget = $schema === undefined && $defs === undefined ? "draft-7" : "draft-2020-12";
    const schema = z.fromJSONSchema(json as z.core.JSONSchema.JSONSchema, { defaultTarget });
    if (z.toJSONSchema(schema, { target: "draft-7", io: "input" }).type === "object") return schema;
  } catch (cause) {
    throw badSchema(`The schema ${path} is not usable: ${(cause as Error).message}.`, "Correct the file.", cause);
  }
  throw badSchema(
    `The schema ${path} does not describe an object at its root.`,
    'Begin with {"type": "object", "properties": {…}}; wrap a list as one of the properties.',
  );
}

const badSchema = (message: string, fix: string, cause?: unknown) =>
  new TandemError("bad_schema", message, { fix, cause });
