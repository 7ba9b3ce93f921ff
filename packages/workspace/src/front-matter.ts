import { parse } from "yaml";
import { z } from "zod";

const FENCED = /^(\uFEFF?---[ \t]*(\r?\n))([\s\S]*?)(^---[ \t]*(?:\r?\n|$))/m;

export interface FrontMatterParts {
  /** The text between the fences; empty without front matter. */
  yaml: string;
  /** The text below, byte for byte. */
  body: string;
  /** The line of the file on which the body begins, from 1. */
  bodyLine: number;
  /** The first fence as it is written. */
  fence: string | undefined;
  eol: "\r\n" | "\n";
}

/** Splits a Markdown file into the YAML at its head and its body. A file without front matter is all body. */
export function splitFrontMatter(text: string): FrontMatterParts {
  const match = FENCED.exec(text);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  // A rule of dashes further down is no front matter.
  if (!match || match.index !== 0) return { yaml: "", body: text, bodyLine: 1, fence: undefined, eol };
  const [whole, fence = "", , yaml = ""] = match;
  return { yaml, body: text.slice(whole.length), bodyLine: whole.split("\n").length, fence, eol };
}

const fields = z.record(z.string(), z.unknown());

/** The fields and the trimmed body of a Markdown file. Throws if the head is not a YAML mapping. */
export function parseFrontMatter(text: string): { head: Record<string, unknown>; body: string } {
  const { yaml, body } = splitFrontMatter(text);
  const head: unknown = parse(yaml, { maxAliasCount: 0 });
  return { head: fields.parse(head ?? {}), body: body.trim() };
}
