import type { Store, StoredRecord } from "@tandem/storage";
import type { z } from "zod";

/** The store of one context: `space` is its id. */
export interface ContextStore extends Pick<Store, "records" | "blobs" | "search"> {
  readonly space: string;
}

const PAGE = 500;

/** All records of a kind with a key prefix, parsed, in key order. */
export async function* allRecords<S extends z.ZodType>(
  { records, space }: ContextStore,
  kind: string,
  schema: S,
  prefix = "",
): AsyncGenerator<z.output<S>> {
  for (let after: string | undefined; ;) {
    const page: StoredRecord[] = await records.list(space, kind, { prefix, after, limit: PAGE });
    for (const { value } of page) yield schema.parse(value);
    if (page.length < PAGE) return;
    after = page.at(-1)!.key;
  }
}
