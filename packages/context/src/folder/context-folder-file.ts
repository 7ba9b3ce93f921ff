import { isId, newId, TandemError, type ContextId } from "@tandem/protocol";
import { stringify } from "yaml";
import { z } from "zod";
import { describeProblem } from "../formats/file-problem.ts";
import { readYaml } from "../formats/read-yaml.ts";
import { CONTEXT_FILE } from "./context-path.ts";

const VERSION = 1;
const schema = z.looseObject({
  version: z.int(),
  id: z.string().refine((id): id is ContextId => isId("context", id), "expected an id that begins with ctx_"),
});

/** The context's id, under which the store keeps everything about it. */
export function parseContextFile(text: string): ContextId {
  const read = readYaml(text, schema);
  if (!read.success) {
    throw new TandemError("context_invalid", `${CONTEXT_FILE} cannot be read. ${describeProblem(read.problems[0]!)}`, {
      fix: "Restore it from git; it holds the version and the id of the context.",
    });
  }
  if (read.value.version > VERSION) {
    throw new TandemError("context_invalid", "This context was made by a newer Tandem.", { fix: "Update Tandem." });
  }
  return read.value.id;
}

export const newContextFile = (): string => stringify({ version: VERSION, id: newId("context") });
