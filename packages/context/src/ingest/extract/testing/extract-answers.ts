import { always, type ModelRequest, object, type Reply, type Rule, when } from "@tandem/rehearsal";
import type { Extraction } from "../extract-prompt.ts";

// Claude Code may add text before ours.
export const isTriage = ({ lastUserText }: ModelRequest): boolean =>
  /^Sort (this|these) .*by its id\.$/m.test(lastUserText);
export const isExtraction = ({ lastUserText }: ModelRequest): boolean =>
  /^What on (this|each of these) .*worth keeping\? Give one entry/m.test(lastUserText);

/** Paths of the requested pages, by id. */
export const askedPages = ({ lastUserText }: ModelRequest): Map<string, string> =>
  new Map(
    [...lastUserText.matchAll(/<document-\w+ id="(p\d+)" [^\n]*?path="([^"]+)"/g)].map(([, id, path]) => [id!, path!]),
  );

/** Citations of an extraction's passages, by the id of their page. */
export const askedPassages = ({ lastUserText }: ModelRequest): Map<string, string[]> => {
  const passages = [...lastUserText.matchAll(/<passage-\w+ citation="([^"]+)" [^\n]*?page="(p\d+)"/g)];
  const pages = new Map<string, string[]>();
  for (const [, citation, page] of passages) pages.set(page!, [...(pages.get(page!) ?? []), citation!]);
  return pages;
};

export type LaneAnswer = { lane: string; reason?: string; suspicious?: string | null };

/** Assigns each page the lane of `laneOf`. */
export const giveLanes = (laneOf: (path: string) => LaneAnswer): Rule =>
  always(
    when(isTriage, (request) => {
      const pages = [...askedPages(request)].map(([id, path]) => ({
        id,
        reason: "So.",
        suspicious: null,
        ...laneOf(path),
      }));
      return asObject({ pages }, request);
    }),
  );

export const aCandidate = (citations: readonly string[], more: Partial<Extraction["candidates"][number]> = {}) => ({
  key: "refund-deadline",
  topic: "Refunds",
  assertion: "Refunds take 30 days.",
  rationale: "The page says so.",
  citations: [...citations],
  suggestedPage: "refunds",
  action: "create" as const,
  scores: { durability: 3, authority: 2, reuse: 2, novelty: 1, risk: 0 },
  ...more,
});

/** Extracts one candidate per page, from its first passage, or those of `answer`. */
export const giveCandidates = (
  answer: (citations: readonly string[]) => Extraction = (citations) => ({
    candidates: [aCandidate(citations.slice(0, 1))],
    suspicious: null,
  }),
): Rule =>
  always(
    when(isExtraction, (request) => {
      const pages = [...askedPassages(request)].map(([id, citations]) => ({ id, ...answer(citations) }));
      return asObject({ pages }, request);
    }),
  );

/** Gives the same answer to every request, including repairs. */
export const giveAnyway = (answer: () => object): Rule => always((request) => asObject(answer(), request));

/** An object, in the way the request asks for one. */
async function asObject(value: object, request: ModelRequest): Promise<Reply> {
  const { answer } = object(value);
  return typeof answer === "function" ? answer(request) : answer;
}
