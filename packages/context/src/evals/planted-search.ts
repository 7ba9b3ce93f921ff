import type { ContextFound, ContextHit, ContextQuery, SearchView } from "../search/context-search.ts";

const CITATION = "evals/planted#claim";
const SOURCE = { source: "evals", path: "planted.md" };

/** Puts a false passage before the hits of every search, marked as unreviewed like any passage that no person checked. */
export const plantedSearch = (search: SearchView, claim: string): SearchView => ({
  get kinds() {
    return search.kinds;
  },
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
