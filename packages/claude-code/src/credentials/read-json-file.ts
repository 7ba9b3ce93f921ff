import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import type { CredentialNotice } from "./credential-place.ts";

export type JsonFile =
  | { state: "found"; path: string; content: Record<string, unknown>; openToOthers: boolean }
  | { state: "absent" | "unreadable" | "malformed"; path: string; detail?: string };

/** Nothing that keeps credentials is larger; a file that is would only be held in memory for nothing. */
const LARGEST = 64 * 1024 * 1024;

const record = z.record(z.string(), z.unknown());

/** A file of settings or credentials. Never rejects, and never repeats a word of what is in it: parsers' errors do. */
export async function readJsonFile(path: string): Promise<JsonFile> {
  let text: string;
  let mode: number;
  try {
    const info = await stat(path);
    if (!info.isFile()) return { state: "unreadable", path, detail: "It is not a file." };
    if (info.size > LARGEST) return { state: "unreadable", path, detail: "It is too large." };
    mode = info.mode;
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent", path };
    return { state: "unreadable", path, detail: `The system says ${code}.` };
  }
  if (text.trim() === "") return { state: "absent", path, detail: "It is empty." };
  try {
    const content = record.parse(JSON.parse(text));
    return { state: "found", path, content, openToOthers: process.platform !== "win32" && (mode & 0o077) !== 0 };
  } catch {
    return { state: "malformed", path, detail: "It is not a JSON object." };
  }
}

/** Text that says something; what is empty is absent. */
export const filled = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** For a file in which a credential was found. */
export const opennessNotices = (file: JsonFile): CredentialNotice[] =>
  file.state === "found" && file.openToOthers
    ? [{ about: file.path, text: "Other users of this machine can read it.", fix: `chmod 600 ${file.path}` }]
    : [];

/** For a file that is there and cannot be used. */
export const brokenNotices = (file: JsonFile): CredentialNotice[] =>
  file.state === "unreadable" || file.state === "malformed"
    ? [{ about: file.path, text: file.detail ?? "It cannot be read.", fix: "Mend it, or move it away." }]
    : [];
