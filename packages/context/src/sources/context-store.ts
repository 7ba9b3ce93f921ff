import { recordPages, type Store } from "@tandem/storage";
import type { z } from "zod";

/** The store of one context: `space` is its id. */
export interface ContextStore extends Pick<Store, "records" | "blobs" | "search"> {
  readonly space: string;
}

/** All records of a kind with a key prefix, parsed, in key order. */
export async function* allRecords<S extends z.ZodType>(
  { records, space }: ContextStore,
  kind: string,
  schema: S,
  prefix = "",
): AsyncGenerator<z.output<S>> {
  for await (const page of recordPages(records, space, kind, { prefix })) {
    for (const { value } of page) yield schema.parse(value);
  }
}
