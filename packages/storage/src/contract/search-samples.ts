import { randomUUID } from "node:crypto";
import type { SearchDocument } from "../search-index.ts";
import type { Stage } from "./storage-stage.ts";

export const newSpace = (): string => `space-${randomUUID()}`;

export const doc = (key: string, fields: Partial<SearchDocument> = {}): SearchDocument => ({
  key,
  kind: "page",
  title: `Title of ${key.length}`,
  text: "",
  hash: "1",
  ...fields,
});

export async function keysFound(
  stage: Pick<Stage, "store">,
  space: string,
  text: string,
  limit = 20,
): Promise<string[]> {
  return (await stage.store.search.search(space, { text, limit })).map(({ key }) => key);
}
