import { inParallel, RequestError } from "@tandem/protocol";
import { listFiles } from "./list-files.ts";
import { openFound } from "./inside/open-inside.ts";
import { readUpTo } from "./inside/read-inside.ts";

const MAX_RESULTS = 1_000;
const MAX_MS = 10_000;
/** Larger files are searched up to here. */
const MAX_FILE_BYTES = 1_024 * 1_024;
const MAX_TOTAL_BYTES = 256 * 1_024 * 1_024;
/** The same probe size as git's binary detection. */
const BINARY_PROBE = 8_000;
/** Lines of minified files are useless to a reader. */
const MAX_LINE = 400;
/** Files opened concurrently. */
const AT_ONCE = 32;

export interface SearchQuery {
  /** Part of the path, case-insensitive. */
  name?: string;
  /** Part of a line, literally. */
  text?: string;
  limit: number;
}

/** A file with a matching name or, with `text`, a matching line. */
export interface SearchHit {
  path: string;
  line?: number;
  text?: string;
}

/**
 * Searches files and lines below a root for literal text. Skips ignored and binary files. Stops at `limit`, after ten
 * seconds or after 256 MiB, with the results so far.
 */
export async function searchFolder(root: string, { name = "", text = "", limit }: SearchQuery): Promise<SearchHit[]> {
  if (name === "" && text === "") {
    throw new RequestError("invalid_request", "Expected a name or a text to search for.");
  }
  if (text.includes("\n")) throw new RequestError("invalid_request", "Expected text of one line to search for.");
  const until = performance.now() + MAX_MS;
  const most = Math.min(Math.max(1, limit), MAX_RESULTS);
  const files = await listFiles(root, until);
  const wanted = name.toLowerCase();
  const paths = wanted === "" ? files : files.filter((path) => path.toLowerCase().includes(wanted));
  const needle = Buffer.from(text);
  let count = 0;
  let bytes = 0;
  const hits = await inParallel(paths, AT_ONCE, async (path): Promise<SearchHit[]> => {
    if (count >= most || bytes >= MAX_TOTAL_BYTES || performance.now() > until) return [];
    const content = await contentOf(root, path, text === "" ? 0 : MAX_FILE_BYTES);
    if (!content) return [];
    bytes += content.length;
    const found = text === "" ? [{ path }] : linesWith(needle, content, path, most);
    count += found.length;
    return found;
  });
  return hits.flat().slice(0, most);
}

/** Undefined if it is gone, not a file, outside or unreadable: not an error for a search. */
async function contentOf(root: string, path: string, limit: number): Promise<Buffer | undefined> {
  try {
    await using file = await openFound(root, path, "file");
    return await readUpTo(file.handle, limit, Number(file.stats.size) + 1);
  } catch {
    return undefined;
  }
}

function linesWith(needle: Buffer, content: Buffer, path: string, most: number): SearchHit[] {
  if (content.subarray(0, BINARY_PROBE).includes(0)) return [];
  const hits: SearchHit[] = [];
  let line = 1;
  let counted = 0;
  for (let at = content.indexOf(needle); at !== -1 && hits.length < most;) {
    for (
      let next = content.indexOf(NEWLINE, counted);
      next !== -1 && next < at;
      next = content.indexOf(NEWLINE, counted)
    ) {
      line += 1;
      counted = next + 1;
    }
    const newline = content.indexOf(NEWLINE, at);
    const end = newline === -1 ? content.length : newline;
    hits.push({ path, line, text: clip(content, counted, at, end) });
    at = content.indexOf(needle, end);
  }
  return hits;
}

const NEWLINE = 0x0a;

/** The line, or the part around the match. */
function clip(content: Buffer, start: number, at: number, end: number): string {
  const from = at - start > MAX_LINE / 2 ? at - MAX_LINE / 2 : start;
  const line = content.toString("utf8", from, Math.min(end, from + MAX_LINE));
  return line.replace(/\r$/, "");
}
