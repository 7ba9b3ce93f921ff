import { TandemError } from "@tandem/protocol";
import { z } from "zod";

export interface ToolOutput {
  /** The only part that the model sees. */
  markdown: string;
  /** For the host: transcripts, ledgers, tests. Never sent to the model. */
  structured?: unknown;
}

/** A tool of an agent loop. Create it with `defineTool`, which validates it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  /** A throw is a tool failure: counted, and reported to the model as an error. */
  execute(input: unknown, context: { signal: AbortSignal }): Promise<ToolOutput>;
}

// Accepted by both engines: Anthropic allows 64 characters, including the MCP prefix.
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,47}$/;

const MAX_DESCRIPTION = 4_096;

export function defineTool<S extends z.ZodObject>(definition: {
  name: string;
  description: string;
  schema: S;
  execute(input: z.output<S>, context: { signal: AbortSignal }): Promise<ToolOutput>;
}): Tool {
  const { name, description, schema } = definition;
  if (!NAME.test(name)) {
    throw new TandemError("bad_tool", `Tool name "${name}" is not usable.`, {
      fix: "Use up to 48 letters, digits, _ or -, starting with a letter.",
    });
  }
  if (description.length > MAX_DESCRIPTION) {
    throw new TandemError("bad_tool", `The description of tool "${name}" has ${description.length} characters.`, {
      fix: `Use at most ${MAX_DESCRIPTION}: Claude Code cuts off the rest.`,
    });
  }
  if (!(schema instanceof z.ZodObject)) {
    throw new TandemError("bad_tool", `Tool "${name}" needs a zod object as its schema.`, {
      fix: "Wrap the input in z.object({ … }).",
    });
  }
  try {
    z.toJSONSchema(schema, { target: "draft-7", io: "input" });
  } catch (cause) {
    throw new TandemError("bad_tool", `The schema of tool "${name}" cannot be expressed as JSON Schema.`, {
      fix: "Use plain JSON types: no dates, bigints, maps or transforms in the input.",
      cause,
    });
  }
  return {
    name,
    description,
    schema,
    execute: async (input, context) => {
      const parsed = schema.safeParse(input);
      if (!parsed.success) throw new Error(`The input does not fit:\n${z.prettifyError(parsed.error)}`);
      return definition.execute(parsed.data, context);
    },
  };
}
