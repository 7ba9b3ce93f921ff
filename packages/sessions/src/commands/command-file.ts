import { parseFrontMatter } from "@tandem/workspace";
import { z } from "zod";

/** A slash command defined in a file. */
export interface CommandFile {
  /** Without the slash; commands in subfolders are `folder:name`. */
  name: string;
  description: string | null;
  argumentHint: string | null;
  /** The model of the turn that it starts. */
  model: string | null;
  /** The agent that runs it. */
  agent: string | null;
  template: string;
  /** `project` files belong to the folder and may come from a stranger. */
  source: "project" | "user";
  /** Whether it may run shell commands: one of an untrusted folder may not. */
  isTrusted: boolean;
  /** Shown to people. */
  path: string;
}

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** The front matter of opencode and Claude Code. Keys that grant tools are ignored: only rules grant permissions. */
const head = z.object({
  description: text.optional(),
  "argument-hint": z
    .union([text, z.array(text).transform((parts) => parts.map((part) => `[${part}]`).join(" "))])
    .optional(),
  model: text.optional(),
  agent: text.optional(),
});

export function readCommand(
  content: string,
  about: Pick<CommandFile, "name" | "source" | "isTrusted" | "path">,
): CommandFile {
  const { head: fields, body } = parseFrontMatter(content);
  const known = head.parse(fields);
  return {
    ...about,
    description: known.description ?? null,
    argumentHint: known["argument-hint"] ?? null,
    model: known.model ?? null,
    agent: known.agent ?? null,
    template: body,
  };
}
