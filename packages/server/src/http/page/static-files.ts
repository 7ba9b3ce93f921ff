import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

export interface StaticFile {
  body: Buffer;
  /** Compressed on first use; undefined for files that do not compress. */
  zipped: (() => Promise<Buffer>) | undefined;
  type: string;
  tag: string;
}

/**
 * Reads all files of a folder by path, as in `/assets/main.js`. Only these paths are served, so no request can reach another
 * file. Empty if the folder cannot be read.
 */
export async function readStaticFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.map(async (entry): Promise<[string, StaticFile][]> => {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) return [];
    const path = join(entry.parentPath, entry.name);
    // A file that is being replaced may be missing; skip it.
    const body = await readFile(path).catch(() => undefined);
    return body ? [[`/${relative(folder, path).replaceAll(sep, "/")}`, staticFile(body, type)]] : [];
  });
  return new Map((await Promise.all(files)).flat());
}

function staticFile(body: Buffer, type: string): StaticFile {
  let zipped: Promise<Buffer> | undefined;
  return {
    body,
    type,
    tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    zipped: /^(text|image\/svg|application)/.test(type) ? () => (zipped ??= compress(body, { level: 9 })) : undefined,
  };
}

/** The file's content, compressed if the client accepts that (`encoding`: its `accept-encoding`). */
export async function bodyResponse(
  file: StaticFile,
  encoding: string,
  headers: Record<string, string>,
  status = 200,
): Promise<Response> {
  const isZipped = file.zipped !== undefined && /\bgzip\b/.test(encoding);
  const body = isZipped ? await file.zipped!() : file.body;
  const more = isZipped ? { "content-encoding": "gzip", vary: "accept-encoding" } : {};
  return new Response(new Uint8Array(body), { status, headers: { ...headers, ...more } });
}
