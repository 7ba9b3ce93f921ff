import { parse } from "yaml";
import { z } from "zod";

const fields = z.record(z.string(), z.unknown());

/** A Markdown file's head and body. A head that is no YAML mapping is an error in words; none at all is an empty one. */
export function frontMatter(text: string): { head: Record<string, unknown>; body: string } {
  const match = /^---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!match) return { head: {}, body: text.trim() };
  const [whole, yaml] = match as unknown as [string, string];
  const head: unknown = yaml.trim() === "" ? {} : parse(yaml, { maxAliasCount: 0 });
  return { head: fields.parse(head), body: text.slice(whole.length).trim() };
}
