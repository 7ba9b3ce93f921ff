import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { z } from "zod";

const seedArchive = z.object({
  /** The folder that paths in the files refer to. */
  base: z.string(),
  /** The times of the recording, in milliseconds. */
  since: z.number(),
  until: z.number(),
  files: z.record(z.string(), z.object({ text: z.string() }).or(z.object({ base64: z.string() }))),
});
export type SeedArchive = z.output<typeof seedArchive>;

export function packArchive(archive: SeedArchive): Buffer {
  const bytes = Buffer.from(JSON.stringify(archive));
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
}

export const unpackArchive = (packed: Buffer): SeedArchive =>
  seedArchive.parse(JSON.parse(brotliDecompressSync(packed).toString("utf8")));

/** The files below a folder, by their path in it. */
export function readFiles(folder: string, isWanted: (path: string) => boolean): SeedArchive["files"] {
  const files: SeedArchive["files"] = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file);
    if (!entry.isFile() || !isWanted(path)) continue;
    const bytes = readFileSync(file);
    const text = bytes.toString("utf8");
    const isText = !bytes.includes(0) && Buffer.from(text).equals(bytes);
    files[path] = isText ? { text } : { base64: bytes.toString("base64") };
  }
  return files;
}

export function writeFiles(
  folder: string,
  files: SeedArchive["files"],
  rewrite: (path: string, text: string) => string,
): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    const bytes = "text" in content ? rewrite(path, content.text) : Buffer.from(content.base64, "base64");
    writeFileSync(file, bytes, { mode: 0o600 });
  }
}
