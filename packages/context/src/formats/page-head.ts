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
  /** Line number of the body's start, from 1. */
  bodyLine: number;
}

export type ReadFrontMatter<T> = ({ success: true } & FrontMatter<T>) | { success: false; problems: FileProblem[] };

/** Parses the YAML front matter and the body of a Markdown file. Without front matter, everything is body. */
export function readFrontMatter<S extends z.ZodType>(text: string, schema: S): ReadFrontMatter<z.output<S>> {
  const { yaml, body, bodyLine } = splitFrontMatter(text);
  const read = readYaml(yaml === "" ? "{}" : yaml, schema, { type: "bad_front_matter", firstLine: 2 });
  return read.success ? { success: true, value: read.value, body, bodyLine } : read;
}

/** Keeps a person's keys, comments and line ends; removes keys that are undefined. */
export function writeFrontMatter(existing: string | undefined, value: object, body: string): string {
  const { yaml, fence, eol } = splitFrontMatter(existing ?? "");
  const edited = editYaml(yaml === "" ? "{}\n" : yaml, (document) => {
    if (!isMap(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
    // Otherwise a map created from nothing would be written in flow style.
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
