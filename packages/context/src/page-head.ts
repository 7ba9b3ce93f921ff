import { editYaml, splitFrontMatter } from "@tandem/workspace";
import { isDeepStrictEqual } from "node:util";
import { isMap } from "yaml";
import type { z } from "zod";
import type { FileProblem } from "./file-problem.ts";
import { readYaml } from "./read-yaml.ts";

interface FrontMatter<T> {
  value: T;
  /** The rest, unchanged. */
  body: string;
  /** The first line of the body in the file, from 1. */
  bodyLine: number;
}

export type ReadFrontMatter<T> = ({ success: true } & FrontMatter<T>) | { success: false; problems: FileProblem[] };

/** The YAML at the head of a Markdown file, and its body. A file without any is all body. */
export function readFrontMatter<S extends z.ZodType>(text: string, schema: S): ReadFrontMatter<z.output<S>> {
  const { yaml, body, bodyLine } = splitFrontMatter(text);
  const read = readYaml(yaml === "" ? "{}" : yaml, schema, { type: "bad_front_matter", firstLine: 2 });
  return read.success ? { success: true, value: read.value, body, bodyLine } : read;
}

/** Keys of a person's own, comments and line ends of what was there stay; a key that is undefined goes. */
export function writeFrontMatter(existing: string | undefined, value: object, body: string): string {
  const { yaml, fence, eol } = splitFrontMatter(existing ?? "");
  const edited = editYaml(yaml === "" ? "{}\n" : yaml, (document) => {
    if (!isMap(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
    // An empty map that was made of nothing is written in one line otherwise.
    if (isMap(document.contents)) document.contents.flow = false;
    const before = document.toJS() as Record<string, unknown>;
    for (const [key, wanted] of Object.entries(value)) {
      if (wanted === undefined) document.delete(key);
      else if (!isDeepStrictEqual(before[key], wanted)) document.set(key, document.createNode(wanted));
    }
  });
  const lines = eol === "\r\n" && !edited.includes("\r\n") ? edited.replaceAll("\n", eol) : edited;
  const wanted = eol === "\r\n" && !body.includes("\r\n") ? body.replaceAll("\n", eol) : body;
  return `${fence ?? "---\n"}${lines}---${eol}${wanted}`;
}
