import { randomBytes } from "node:crypto";
import { extname } from "node:path";
import { PreloadTags } from "./preload-tags.ts";
import { bodyResponse, readStaticFiles, type StaticFile } from "./static-files.ts";

/** Paths of the API, never of the page. */
const NOT_THE_PAGE = /^\/(v1|mcp|acp|openapi\.json|healthz|readyz|metrics)(\/|$)/;
/** Routes of the page. They may contain a dot, as in `/context/tables/shop/main.orders`, and are still no files. */
const PLACE = /^\/(sessions|inbox|context|settings)(\/|$)/;
/** The build names these files by a hash of their content, so they can be cached forever. */
const FOREVER = /^\/assets\//;
/** Placeholder for the nonce, which differs for each response. */
const NONCE_MARK = "__NONCE__";
/** Tells the page why its browser is signed out. */
const RETIRED = '<meta name="tandem-signed-out" content="old-cookie">';

/**
 * The page's files. They are public, because they contain no data; the page signs its requests for data. All files are
 * read at startup: a later build belongs to a later server, and a mix of two builds would not work.
 */
export class PageFiles {
  readonly #preloads: PreloadTags;
  readonly #files: Promise<ReadonlyMap<string, StaticFile>>;

  constructor(folder: string) {
    this.#files = readStaticFiles(folder);
    this.#preloads = new PreloadTags(
      this.#files.then((files) => files.get("/first-needs.json")?.body.toString("utf8")),
    );
  }

  /** Undefined if the path is not the page's. */
  async answer(
    method: string,
    path: string,
    headers: { encoding: string; tag: string; retireCookie: () => Promise<string | undefined> },
  ): Promise<Response | undefined> {
    if ((method !== "GET" && method !== "HEAD") || NOT_THE_PAGE.test(path)) return undefined;
    const isFile = extname(path) !== "" && !PLACE.test(path);
    // Every other path is a route of the page, which the page resolves itself.
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
      const cookie = await headers.retireCookie();
      const tags = `${cookie === undefined ? "" : RETIRED}${await this.#preloads.tags(path)}`;
      const html = file.body.toString("utf8").replaceAll(NONCE_MARK, nonce).replace("</head>", `${tags}</head>`);
      return new Response(html, { headers: { ...all, ...(cookie !== undefined && { "set-cookie": cookie }) } });
    }
    return bodyResponse(file, headers.encoding, all);
  }
}

/** Allows only the page's own scripts and styles; no frames, forms or requests to other servers. */
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
