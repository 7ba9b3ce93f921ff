import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { FirstNeeds } from "./first-needs.ts";

const compress = promisify(gzip);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

/** What is the server's own and never the page's. */
const NOT_THE_PAGE = /^\/(v1|mcp|acp|openapi\.json|healthz|readyz|metrics)(\/|$)/;
/** Places in the page: what follows may have a dot in it, like `/context/tables/shop/main.orders`, and is no file for that. */
const PLACE = /^\/(sessions|inbox|context|settings)(\/|$)/;
/** The build names these by what is in them: they never change. */
const FOREVER = /^\/assets\//;
/** Stands in the page for the nonce, which is another one each time. */
const NONCE_MARK = "__NONCE__";

interface PageFile {
  body: Buffer;
  /** Made when it is wanted first; undefined for what does not get smaller. */
  zipped: (() => Promise<Buffer>) | undefined;
  type: string;
  tag: string;
}

/**
 * The page's files: public, since they say nothing about anybody. Whatever they show they have to ask for with a token. All are
 * read at the start: the page of a later build belongs to a later server, and what is half of each would fit nothing.
 */
export class PageFiles {
  readonly #needs: FirstNeeds;
  readonly #files: Promise<ReadonlyMap<string, PageFile>>;

  constructor(folder: string) {
    this.#files = readAll(folder);
    this.#needs = new FirstNeeds(this.#files.then((files) => files.get("/first-needs.json")?.body.toString("utf8")));
  }

  /** Undefined where the address is none of the page's. */
  async answer(
    method: string,
    path: string,
    headers: { encoding: string; tag: string; isSignedIn: boolean },
  ): Promise<Response | undefined> {
    if ((method !== "GET" && method !== "HEAD") || NOT_THE_PAGE.test(path)) return undefined;
    const isFile = extname(path) !== "" && !PLACE.test(path);
    // Every other address is one of the page's own, which it finds its way to by itself.
    const file = (await this.#files).get(isFile ? path : "/index.html");
    if (!file) return isFile ? new Response(null, { status: 404 }) : undefined;
    const isPage = file.type.startsWith("text/html");
    const common = {
      "content-type": file.type,
      "cache-control": FOREVER.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
      ...(isPage ? {} : { etag: file.tag }),
    };
    if (!isPage && headers.tag === file.tag) return new Response(null, { status: 304, headers: common });
    const nonce = randomBytes(16).toString("base64");
    const all = { ...common, ...(isPage && pageHeaders(nonce)) };
    if (method === "HEAD") return new Response(null, { headers: all });
    if (isPage) {
      const needs = await this.#needs.tags(path, headers.isSignedIn);
      const html = file.body.toString("utf8").replaceAll(NONCE_MARK, nonce).replace("</head>", `${needs}</head>`);
      return new Response(html, { headers: all });
    }
    if (file.zipped && /\bgzip\b/.test(headers.encoding)) {
      return new Response(bytes(await file.zipped()), {
        headers: { ...all, "content-encoding": "gzip", vary: "accept-encoding" },
      });
    }
    return new Response(bytes(file.body), { headers: all });
  }
}

/** By their addresses. A folder that cannot be read has no page. */
async function readAll(folder: string): Promise<Map<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.map(async (entry): Promise<[string, PageFile][]> => {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) return [];
    const path = join(entry.parentPath, entry.name);
    // One that is just being replaced is missing; that is no reason to fail.
    const body = await readFile(path).catch(() => undefined);
    return body ? [[`/${relative(folder, path).replaceAll(sep, "/")}`, pageFile(body, type)]] : [];
  });
  return new Map((await Promise.all(files)).flat());
}

function pageFile(body: Buffer, type: string): PageFile {
  let zipped: Promise<Buffer> | undefined;
  return {
    body,
    type,
    tag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    zipped: /^(text|image\/svg|application)/.test(type) ? () => (zipped ??= compress(body, { level: 9 })) : undefined,
  };
}

/** Nothing but the page's own: no script or style from anywhere else, no frame, no form, no request to another server. */
const pageHeaders = (nonce: string): Record<string, string> => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
});

const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);
