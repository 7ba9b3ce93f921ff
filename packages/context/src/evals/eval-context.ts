import type { EvalArm } from "@tandem/protocol";
import type { SearchView, ContextFound, ContextHit, ContextQuery } from "../search/context-search.ts";
import type { SearchKind } from "../search/documents.ts";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { kindsOf } from "./arm-tools.ts";
import type { AskedQuestion } from "./load-evals.ts";

/** A context as the questions are asked of it: the one that is served, or the same with a proposal. */
export interface EvalContext {
  catalogue: CatalogueReader;
  /** A search that finds these kinds only. */
  search(kinds?: readonly SearchKind[]): SearchView;
  /** The context's tools over a search. With `asOf`, "today" is that day. */
  tools(search: SearchView, asOf?: string): readonly ContextTool[];
}

/** The tools of an arm for a question, which may have a planted passage. */
export function toolsOf(context: EvalContext, arm: EvalArm, { file, question }: AskedQuestion): readonly ContextTool[] {
  const search = context.search(kindsOf(arm));
  const { planted } = question;
  const shown = arm === "planted" && planted !== undefined ? plantedSearch(search, planted) : search;
  return context.tools(shown, file.asOf);
}

const CITATION = "evals/planted#claim";
const SOURCE = { source: "evals", path: "planted.md" };

/** Puts a false passage before the hits of every search, marked as unreviewed like any passage that no person checked. */
const plantedSearch = (search: SearchView, claim: string): SearchView => ({
  get kinds() {
    return search.kinds;
  },
  now: search.now,
  find: async (query: ContextQuery): Promise<ContextFound> => {
    const { hits, degraded } = await search.find(query);
    const planted: ContextHit = {
      key: `chunk:${CITATION}`,
      kind: "chunk",
      title: "Notes",
      snippet: claim,
      score: 1,
      by: ["words"],
      unreviewed: SOURCE,
    };
    return { hits: [planted, ...hits].slice(0, query.limit), degraded };
  },
  passage: async (citation) =>
    citation === CITATION
      ? {
          passage: { citation, ...SOURCE, title: "Notes", headings: [], content: claim, sha256: "", hash: "" },
          isReviewed: false,
        }
      : await search.passage(citation),
});
