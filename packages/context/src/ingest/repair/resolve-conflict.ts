import type { Decision } from "../../proposals/proposal.ts";
import { citationsIn } from "../../wiki/check-page.ts";
import { pageKeyOf } from "../../wiki/page-file.ts";
import { checkText, type Knowledge } from "../gates/check-pages.ts";
import { asQuotation } from "../../untrusted/as-quotation.ts";
import { asEvidence } from "../workbench/evidence-store.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import type { Conflict, Pages } from "../workbench/pages.ts";
import { repairFile } from "./repair-file.ts";

const SHOWN = 1_500;

/**
 * Merges two agents' changes to the same lines with an agent. Succeeds only if the page passes its checks and keeps all
 * citations of both. Otherwise the first change stays, and a person is asked.
 */
export async function resolveConflict(
  line: IngestLine,
  pages: Pages,
  conflict: Conflict,
  knowledge: Knowledge,
): Promise<Decision | undefined> {
  const { path, base, current, wanted, by, basis } = conflict;
  const text =
    current === null || wanted === null
      ? undefined
      : await repairFile(line, {
          path,
          text: current,
          task: [
            `Two agents have changed the same lines of this page. The file has the first one's version. Put the second one's into it, so that nothing that either of them says is lost; every citation of both has to be in the text, and in the front matter's sources.`,
            asQuotation("second-version", {}, wanted),
            ...(base === null ? [] : [asQuotation("before-both", {}, base)]),
          ].join("\n\n"),
          problemsOf: async (candidate) => {
            const cited = citedIn(candidate);
            const lost = [...citedIn(current), ...citedIn(wanted)].filter((citation) => !cited.has(citation));
            const missing = [...new Set(lost)].map((citation) => ({
              type: "unknown_citation" as const,
              line: undefined,
              message: `The text that rests on ${citation} was lost.`,
            }));
            return [...missing, ...(await checkText(pages, path, candidate, knowledge))];
          },
        });
  if (text !== undefined) {
    pages.set(path, text, by, basis);
    return undefined;
  }
  return {
    id: "",
    kind: "conflict",
    about: aboutOf(path),
    question: `${pages.by(path).join(" and ") || "Another change"} and ${by} have changed the same lines of ${path}. Which of them is right? This proposal has the first one.`,
    sides: await Promise.all(
      [current, wanted].map(async (side) => ({
        claim: side === null ? "The page is removed." : side.slice(0, SHOWN).toWellFormed(),
        evidence: (await line.evidenceStore.read([...citedIn(side ?? "")])).map(asEvidence),
      })),
    ),
    answer: null,
  };
}

const citedIn = (text: string): Set<string> => new Set(citationsIn(text).map(({ citation }) => citation));

const aboutOf = (path: string): string => {
  const key = pageKeyOf(path);
  return key === undefined ? path : `page:${key}`;
};
