import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Embedder } from "@tandem/runtime";
import { openStore, type Store } from "@tandem/storage";
import type { ContextFolder } from "../folder/context-folder.ts";
import { ContextSearch, type SearchView } from "../search/context-search.ts";
import type { SearchKind } from "../search/documents.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import type { EvalContext } from "./eval-context.ts";

/** Builds the context's tools over a folder and a search. */
export type CreateTools = (view: {
  folder: ContextFolder;
  search: SearchView;
  catalogue: CatalogueReader;
  /** The time that relative ranges of metrics start from. */
  now: (() => Date) | undefined;
}) => readonly ContextTool[];

export interface EvalContextParts {
  folder: ContextFolder;
  store: Pick<Store, "records" | "search">;
  createTools: CreateTools;
  user: string | undefined;
  embedder: Embedder | undefined;
}

/** A context whose searches can be limited to some kinds. */
export function openEvalContext({ folder, store, createTools, user, embedder }: EvalContextParts): EvalContext {
  const catalogue = new CatalogueReader(folder);
  const searches = new Map<string, ContextSearch>();
  const search = (kinds?: readonly SearchKind[]) => {
    const key = kinds?.join() ?? "all";
    const known = searches.get(key);
    if (known) return known;
    const made = new ContextSearch({
      folder,
      store,
      kinds,
      ...(embedder && { embedder }),
      ...(user !== undefined && { user }),
    });
    searches.set(key, made);
    return made;
  };
  return {
    catalogue,
    search,
    tools: (view, asOf) =>
      createTools({ folder, search: view, catalogue, now: asOf === undefined ? undefined : () => noonOf(asOf) }),
  };
}

/** Noon is on that day in nearly every time zone. */
const noonOf = (day: string): Date => new Date(`${day}T12:00:00Z`);

/** A store for the search index of a changed context, so that its files never get into the real index. */
export async function openScratchStore(owned: AsyncDisposableStack): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), "tandem-evals-"));
  owned.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return owned.use(await openStore(join(folder, "index.db")));
}
