import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import type { CallRequest, LoopRequest } from "./llm-runtime.ts";

/** Invalid arguments throw at the call, before anything is sent; they are not an outcome of the operation. */
function refuse(message: string, fix: string, cause?: unknown): never {
  throw new TandemError("bad_request", message, { fix, cause });
}

export function acceptPrompt({ prompt, temperature = 0 }: CallRequest): void {
  if (prompt.trim() === "") refuse("The prompt is empty.", "Say what the model is to do.");
  if (!(temperature >= 0 && temperature <= 1))
    refuse(`A temperature of ${temperature} is not possible.`, "Give a number from 0 to 1.");
}

/** The schema in the form that all backends accept: draft 7, an object at the root, no `$schema`. */
export function acceptObjectSchema(schema: z.ZodType): Record<string, unknown> {
  let jsonSchema: Record<string, unknown>;
  try {
    jsonSchema = { ...z.toJSONSchema(schema, { target: "draft-7", io: "input" }) };
  } catch (cause) {
    return refuse(
      "The schema cannot be expressed as JSON Schema.",
      "Use plain JSON types: no dates, bigints, maps or functions in what the model is to give.",
      cause,
    );
  }
  if (jsonSchema["type"] !== "object") {
    refuse("The schema is not an object at its root.", "Wrap it: z.object({ items: … }).");
  }
  delete jsonSchema["$schema"];
  return jsonSchema;
}

export function acceptTools({ tools, stepBudget }: Pick<LoopRequest, "tools" | "stepBudget">): void {
  if (!Number.isInteger(stepBudget) || stepBudget < 1) {
    refuse(`A step budget of ${stepBudget} is not usable.`, "Give a whole number of at least 1.");
  }
  const names = tools.map((tool) => tool.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) refuse(`Two tools are named "${twice}".`, "Give each tool a name of its own.");
}

/** Describes schema violations for the model; undefined if the value is valid. */
export function describeViolations(schema: z.ZodType, value: unknown): string | undefined {
  const result = schema.safeParse(value);
  return result.success ? undefined : z.prettifyError(result.error);
}
