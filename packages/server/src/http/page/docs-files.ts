import { bodyResponse, readStaticFiles, type StaticFile } from "./static-files.ts";

const DOCS_PATH = "/docs";
const HEADERS = {
  // The site loads its index as a script, so that it also works without a server: nothing needs `connect-src`.
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
};

const MISSING = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Page not found</title>
<link rel="stylesheet" href="${DOCS_PATH}/site.css"><main class="columns"><div><h1>Page not found</h1>
<p>There is no page at this address. <a href="${DOCS_PATH}/">Search the documentation</a>.</p></div></main></html>
`;

/** The documentation at `/docs`. It is public, because it is the same on every server. Read on first use. */
export class DocsFiles {
  readonly #folder: string;
  #files: Promise<ReadonlyMap<string, StaticFile>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined if the path is not under `/docs`, or the method does not read. */
  async answer(
    method: string,
    path: string,
    headers: { encoding: string; tag: string },
  ): Promise<Response | undefined> {
    if ((method !== "GET" && method !== "HEAD") || !(path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`))) {
      return undefined;
    }
    // The site's links are relative to a folder.
    if (path === DOCS_PATH)
      return new Response(null, { status: 308, headers: { ...HEADERS, location: `${DOCS_PATH}/` } });
    const files = await (this.#files ??= readStaticFiles(this.#folder));
    const name = path.slice(DOCS_PATH.length);
    const file = files.get(name.endsWith("/") ? `${name}index.html` : name);
    if (!file) {
      return new Response(MISSING, {
        status: 404,
        headers: { ...HEADERS, "content-type": "text/html; charset=utf-8" },
      });
    }
    const all = { ...HEADERS, "content-type": file.type, "cache-control": "no-cache", etag: file.tag };
    if (headers.tag === file.tag) return new Response(null, { status: 304, headers: all });
    if (method === "HEAD") return new Response(null, { headers: all });
    return bodyResponse(file, headers.encoding, all);
  }
}
