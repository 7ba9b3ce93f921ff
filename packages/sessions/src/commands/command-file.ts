import { parseFrontMatter } from "@tandem/workspace";
import { z } from "zod";

/** A slash command as somebody has written it down. */
export interface CommandFile {
  /** Without the slash; those of subfolders are `folder:name`. */
  name: string;
  description: string | null;
  argumentHint: string | null;
  /** The model of the turn that it begins. */
  model: string | null;
  /** The agent that is to do it. */
  agent: string | null;
  template: string;
  /** `project` files come with the folder, and may have been written by a stranger. */
  source: "project" | "user";
  /** For people. */
  path: string;
}

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** What opencode and Claude Code write there. What grants tools is left alone: that is the rules' to say. */
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
  { name, source, path }: Pick<CommandFile, "name" | "source" | "path">,
): CommandFile {
  const { head: fields, body } = parseFrontMatter(content);
  const known = head.parse(fields);
  return {
    name,
    description: known.description ?? null,
    argumentHint: known["argument-hint"] ?? null,
    model: known.model ?? null,
    agent: known.agent ?? null,
    template: body,
    source,
    path,
  };
}
