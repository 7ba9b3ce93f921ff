import { LineCounter, parseDocument, type Document } from "yaml";
import type { z } from "zod";
import type { FileProblem } from "./file-problem.ts";

export type ReadYaml<T> =
  | { success: true; value: T; document: Document.Parsed; lineOf: (offset: number) => number }
  | { success: false; problems: FileProblem[] };

/** Parses YAML by a schema, or returns problems with their lines. `firstLine` is the text's position in its file. */
export function readYaml<S extends z.ZodType>(
  text: string,
  schema: S,
  {
    type = "bad_yaml",
    firstLine = 1,
    reviver,
  }: { type?: FileProblem["type"]; firstLine?: number; reviver?: (key: unknown, value: unknown) => unknown } = {},
): ReadYaml<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: "1.2" });
  const lineOf = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => ({
      type,
      line: lineOf(pos[0]),
      message: sentence(message),
    }));
    return { success: false, problems };
  }
  let data: unknown;
  try {
    // Limits alias expansion ("billion laughs").
    data = document.toJS({ maxAliasCount: 20, ...(reviver && { reviver }) });
  } catch (error) {
    return { success: false, problems: [{ type, line: undefined, message: sentence(String(error)) }] };
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return { success: true, value: parsed.data, document, lineOf };
  const problems = parsed.error.issues.map(({ path, message }) => ({
    type,
    line: nearestLine(document, path, lineOf),
    message: sentence(path.length === 0 ? message : `${path.join(".")}: ${message}`),
  }));
  return { success: false, problems };
}

/** Line of the node, or of its nearest existing parent. */
function nearestLine(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  lineOf: (offset: number) => number,
): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return lineOf(Number(node.range[0]));
    }
  }
  return undefined;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.?$/, ".")}`;
