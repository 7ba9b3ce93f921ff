import { TandemError } from "@tandem/protocol";
import type { Source, SourceType } from "./source.ts";

/** A read item, identified by the hash of its bytes. */
export interface FetchedItem {
  source: string;
  type: SourceType;
  connection?: string;
  path: string;
  title?: string;
  size: number;
  sha256: string;
}

export interface Fetched {
  source: string;
  type: SourceType;
  items: FetchedItem[];
  ignored: number;
  skipped: { path: string; error: TandemError }[];
  /** Path prefixes that may be incomplete in `items`; the empty prefix means all. */
  hidden: string[];
}

// Batches writes, because each costs a disk flush.
const HELD_ITEMS = 64;
const HELD_BYTES = 8 * 1024 * 1024;

/**
 * Reads a source completely. `keep` stores the bytes of an item and returns their hash; writes are batched with bounded
 * memory. Rejects only if aborted, or if the bytes cannot be stored.
 */
export async function fetchSource(
  source: Source,
  {
    keep,
    signal,
    onEntry,
  }: { keep: (bytes: Uint8Array) => Promise<string>; signal?: AbortSignal; onEntry?: (path: string) => void },
): Promise<Fetched> {
  const { name, type, connection } = source;
  const fetched: Fetched = { source: name, type, items: [], ignored: 0, skipped: [], hidden: [] };
  const skip = (path: string, error: TandemError, hides: string) => {
    fetched.skipped.push({ path, error });
    fetched.hidden.push(hides);
  };
  let keeping: Promise<void>[] = [];
  let held = 0;
  let failure: { error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
  };
  const allKept = async () => {
    await Promise.all(keeping);
    keeping = [];
    held = 0;
    if (failure) throw failure.error;
  };
  if (source.lists === "some") fetched.hidden.push("");
  try {
    for await (const entry of source.list({ signal })) {
      signal?.throwIfAborted();
      if (entry.type === "ignored") fetched.ignored += 1;
      else if (entry.type === "skipped") skip(entry.path, entry.error, entry.hides ?? entry.path);
      else {
        const { path, title } = entry.item;
        onEntry?.(path);
        const bytes = await orError(entry.item.read());
        if (bytes instanceof TandemError) {
          skip(path, bytes, path);
          continue;
        }
        const size = bytes.byteLength;
        fetched.items.push({
          source: name,
          type,
          path,
          size,
          sha256: "",
          ...(title && { title }),
          ...(connection && { connection }),
        });
        const item = fetched.items.at(-1)!;
        keeping.push(keep(bytes).then((sha256) => void (item.sha256 = sha256), fail));
        held += size;
        if (held > HELD_BYTES || keeping.length >= HELD_ITEMS) await allKept();
      }
    }
  } catch (error) {
    if (failure || !(error instanceof TandemError)) throw error;
    // A missing source proves nothing about its documents, least of all their deletion.
    skip("", error, "");
  }
  await allKept();
  fetched.items.sort((a, b) => (a.path < b.path ? -1 : 1));
  return fetched;
}

async function orError(read: Promise<Uint8Array>): Promise<Uint8Array | TandemError> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof TandemError) return error;
    throw error;
  }
}
