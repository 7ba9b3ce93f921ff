import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";
import { z } from "zod";

/** An entry of a settings file, by section and name. */
export interface SettingsEntry {
  section: string;
  name: string;
  value: Readonly<Record<string, unknown>>;
}

export type EntryState =
  | { state: "absent"; text: string }
  /** The file has exactly this entry; `text` is the file without it. */
  | { state: "there"; text: string }
  | { state: "other" }
  | { state: "unreadable" };

const object = z.record(z.string(), z.unknown());

/** Looks an entry up in JSON with comments. For an absent one, `text` has it added; comments and layout stay. */
export function jsonEntry(old: string, { section, name, value }: SettingsEntry): EntryState {
  const errors: ParseError[] = [];
  const options = { allowTrailingComma: true, disallowComments: false };
  const settings = object.safeParse(parse(old.replace(/^\uFEFF/, ""), errors, options));
  const servers = object.safeParse(settings.success ? (settings.data[section] ?? {}) : undefined);
  if (errors.length > 0 || !servers.success) return { state: "unreadable" };
  const indent = /^[ \t]+/m.exec(old)?.[0] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: old.includes("\r\n") ? "\r\n" : "\n",
  };
  const changed = (to: unknown) => applyEdits(old, modify(old, [section, name], to, { formattingOptions }));
  const there = servers.data[name];
  if (there === undefined) return { state: "absent", text: changed(value) };
  return JSON.stringify(there) === JSON.stringify(value)
    ? { state: "there", text: changed(undefined) }
    : { state: "other" };
}

/** The same for TOML. A table is appended as text, because no library keeps comments. */
export function tomlEntry(old: string, { section, name, value }: SettingsEntry): EntryState {
  const block = tomlTable({ section, name, value });
  const normal = old.replaceAll("\r\n", "\n");
  const header = new RegExp(String.raw`^\s*\[\s*${section}\s*\.\s*["']?${name}["']?\s*[.\]]`, "m");
  // An inline table or a dotted key would be defined twice.
  const inline = new RegExp(String.raw`^\s*${section}\s*(=|\.\s*["']?${name}\b)`, "m");
  if (!header.test(normal)) {
    if (inline.test(normal)) return { state: "other" };
    const before = normal === "" ? "" : `${normal.trimEnd()}\n\n`;
    return { state: "absent", text: `${before}${block}` };
  }
  const at = normal.indexOf(block);
  const after = at === -1 ? "" : normal.slice(at + block.length);
  const isWhole = at !== -1 && (at === 0 || normal[at - 1] === "\n") && /^\s*($|\[|#)/.test(after);
  if (!isWhole) return { state: "other" };
  return {
    state: "there",
    text: `${normal.slice(0, at).trimEnd()}\n${after.trimStart() === "" ? "" : `\n${after.trimStart()}`}`,
  };
}

export function tomlTable({ section, name, value }: SettingsEntry): string {
  // Strings and arrays of strings are written alike in JSON and TOML.
  const lines = Object.entries(value).map(([key, each]) => `${key} = ${JSON.stringify(each)}`);
  return `[${section}.${name}]\n${lines.join("\n")}\n`;
}
