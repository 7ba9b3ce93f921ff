import { always, type ModelRequest, object, type Reply, type Rule, when } from "@tandem/rehearsal";
import type { Extraction } from "../extract-prompt.ts";

// Claude Code may add text before ours.
export const isTriage = ({ lastUserText }: ModelRequest): boolean =>
  /^Sort (this|these) .*by its id\.$/m.test(lastUserText);
export const isExtraction = ({ lastUserText }: ModelRequest): boolean =>
  /^What on this page is worth keeping\?$/m.test(lastUserText);

/** Paths of the requested pages, by id. */
export const askedPages = ({ lastUserText }: ModelRequest): Map<string, string> =>
  new Map(
    [...lastUserText.matchAll(/<document-\w+ id="(p\d+)" [^\n]*?path="([^"]+)"/g)].map(([, id, path]) => [id!, path!]),
  );

export const askedCitations = ({ lastUserText }: ModelRequest): string[] =>
  [...lastUserText.matchAll(/<passage-\w+ citation="([^"]+)"/g)].map(([, citation]) => citation!);

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

/** Extracts one candidate per page, from its first passage. */
export const giveCandidates = (
  answer: (request: ModelRequest) => object = (request) => ({
    candidates: [aCandidate(askedCitations(request).slice(0, 1))],
    suspicious: null,
  }),
): Rule => always(when(isExtraction, (request) => asObject(answer(request), request)));

/** Gives the same answer to every request, including repairs. */
export const giveAnyway = (answer: () => object): Rule => always((request) => asObject(answer(), request));

/** An object, in the way the request asks for one. */
async function asObject(value: object, request: ModelRequest): Promise<Reply> {
  const { answer } = object(value);
  return typeof answer === "function" ? answer(request) : answer;
}
