import type { FileHandle } from "node:fs/promises";
import { openInside } from "./open-inside.ts";

/** For files that grow or report no size. */
const CHUNK = 4_096;

export type FileContent = { path: string; size: number; truncated: boolean } & ({ text: string } | { base64: string });

/** Reads a file inside a root, up to `maxBytes`: as text if it is UTF-8 without NULs, otherwise as base64. */
export async function readInside(root: string, path: string, { maxBytes }: { maxBytes: number }): Promise<FileContent> {
  await using file = await openInside(root, path, "file");
  const size = Number(file.stats.size);
  // One byte more detects truncation, even if the file grows or reports no size.
  const bytes = await readUpTo(file.handle, maxBytes + 1, size + 1);
  const truncated = bytes.length > maxBytes;
  const content = bytes.subarray(0, maxBytes);
  const text = asText(content, truncated);
  const about = { path: file.path, size: Math.max(size, bytes.length), truncated };
  return text === undefined ? { ...about, base64: content.toString("base64") } : { ...about, text };
}

/** The bytes of a file inside a root; undefined if it is larger than `maxBytes`. */
export async function readBytesInside(
  root: string,
  path: string,
  { maxBytes }: { maxBytes: number },
): Promise<Buffer | undefined> {
  await using file = await openInside(root, path, "file");
  const size = Number(file.stats.size);
  if (size > maxBytes) return undefined;
  const bytes = await readUpTo(file.handle, maxBytes + 1, size + 1);
  return bytes.length > maxBytes ? undefined : bytes;
}

/** Reads the beginning of an open file. `expected` is a size hint. */
export async function readUpTo(handle: FileHandle, limit: number, expected: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < limit) {
    const want = Math.min(limit - total, Math.max(CHUNK, expected - total));
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(want), 0, want, total);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    if (bytesRead < want) break;
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function asText(content: Buffer, truncated: boolean): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    // In stream mode, a character split by the cut is dropped; elsewhere invalid UTF-8 makes the file binary.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content, { stream: truncated });
  } catch {
    return undefined;
  }
}
