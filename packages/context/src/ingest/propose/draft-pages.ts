import type { Evidence } from "../../evidence.ts";
import type { Draft, Support } from "../../draft.ts";
import { citationsIn } from "../../wiki/check-page.ts";
import { pageKeyOf, type PageFile, parsePage } from "../../wiki/page-file.ts";
import { documentOf } from "../../sources/citation.ts";
import { asEvidence, type EvidenceStore } from "../workbench/evidence-store.ts";
import { blocksOf } from "../workbench/page-blocks.ts";
import type { PageChange } from "../workbench/pages.ts";

/** A changed page with the evidence for each line: the passages cited by its paragraph. */
export async function draftPage(
  { path, before, after, basis }: PageChange,
  evidenceStore: EvidenceStore,
  judge: Evidence,
): Promise<Draft> {
  const [old, now] = [pageOf(path, before), pageOf(path, after)];
  const cited = now ? citationsIn(now.page.body).map(({ citation }) => citation) : [];
  const known = await evidenceOf(
    evidenceStore,
    [...cited, ...basis, ...sourcesOf(old?.page), ...sourcesOf(now?.page)],
    [...(old?.page.sources ?? []), ...(now?.page.sources ?? [])],
  );
  const of = (citations: readonly string[]): Evidence[] => [
    ...[...new Set(citations)].flatMap((citation) => known.get(citation) ?? []),
    judge,
  ];
  const all = of(cited.length > 0 ? cited : basis);
  const support: Support[] = [];
  if (now) {
    support.push({ from: 1, to: now.bodyLine - 1, aspect: "wiki", evidence: all });
    for (const block of blocksOf(now.page.body)) {
      const evidence = block.citations.length > 0 ? of(block.citations) : all;
      support.push({ from: now.bodyLine + block.from - 1, to: now.bodyLine + block.to - 1, aspect: "wiki", evidence });
    }
  }
  const gone = of([...basis, ...cited, ...sourcesOf(old?.page)]);
  return { path, before, after, support, removal: [{ from: 1, to: Infinity, aspect: "wiki", evidence: gone }] };
}

function pageOf(path: string, text: string | null): { page: PageFile; bodyLine: number } | undefined {
  const parsed = text === null ? undefined : parsePage(pageKeyOf(path) ?? path, text);
  return parsed?.success ? parsed : undefined;
}

const sourcesOf = (page: PageFile | undefined): string[] => page?.sources.map(({ citation }) => citation) ?? [];

/** For a passage that no longer exists, uses the page's own citation. */
async function evidenceOf(
  evidenceStore: EvidenceStore,
  citations: readonly string[],
  listed: PageFile["sources"],
): Promise<Map<string, Evidence>> {
  const found = new Map<string, Evidence>(
    listed.map(({ citation, path, sha256 }) => [
      citation,
      { type: "source", source: documentOf(citation).split("/", 1)[0]!, path, sha256, citation },
    ]),
  );
  for (const chunk of await evidenceStore.read([...new Set(citations)])) found.set(chunk.citation, asEvidence(chunk));
  return found;
}
