import type { FileHandle } from "node:fs/promises";
import { openInside } from "./open-inside.ts";

/** For what grows, and what does not say how large it is. */
const CHUNK = 4_096;

export type FileContent = { path: string; size: number; truncated: boolean } & ({ text: string } | { base64: string });

/** A file inside a root: as text if it is UTF-8 without NULs, else in base64; at most `maxBytes` of it. */
export async function readInside(root: string, path: string, { maxBytes }: { maxBytes: number }): Promise<FileContent> {
  await using file = await openInside(root, path, "file");
  const size = Number(file.stats.size);
  // One byte more tells whether there is more, also of a file that grows or does not say how large it is.
  const bytes = await readUpTo(file.handle, maxBytes + 1, size + 1);
  const truncated = bytes.length > maxBytes;
  const content = bytes.subarray(0, maxBytes);
  const text = asText(content, truncated);
  const about = { path: file.path, size: Math.max(size, bytes.length), truncated };
  return text === undefined ? { ...about, base64: content.toString("base64") } : { ...about, text };
}

/** The beginning of an open file. `expected` is a guess that saves reads. */
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
    // A character that the cut went through is left out; anywhere else, it makes the file binary.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content, { stream: truncated });
  } catch {
    return undefined;
  }
}
