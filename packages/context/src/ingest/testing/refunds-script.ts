import { type Rule, text } from "@tandem/rehearsal";
import { giveCandidates, giveLanes } from "../extract/testing/extract-answers.ts";
import {
  agent,
  fileRead,
  isCurator,
  isReconciler,
  isRepair,
  isUnit,
  PAGE,
  reads,
  use,
  verify,
  writePage,
} from "./agent-requests.ts";

/** Three documents, one per lane; two contradict each other. */
export const REFUNDS = {
  "refunds.md": "# Refunds\n\n## Policy\n\nRefunds are paid within 30 days.\n",
  "faq.md": "# FAQ\n\nRefunds are paid within 14 days.\n",
  "menu.md": "# Menu\n\nHome, back.\n",
};

/** Requests: lanes, an extraction, a unit, a curator pass, a reconciliation. */
export const REFUND_REQUESTS = 12;

export function refundsScript(): Rule[] {
  const first = "Refunds are paid within 30 days. [^docs/refunds#policy]";
  return [
    giveLanes((path) => ({ lane: path === "faq.md" ? "light" : path === "menu.md" ? "skip" : "full" })),
    giveCandidates(),
    agent(isUnit, writePage("refunds", first), verify, writePage("refunds", first), () => text("A page.")),
    agent(
      isCurator,
      use("wiki_read", { key: "refunds" }),
      writePage("refunds", `${first}\n\nThe FAQ says 14 days. [^docs/faq#top]`),
      use("candidate_mark", { candidate: "c1", verdict: "promote", reason: "Worth it.", page: "refunds" }),
    ),
    agent(
      isReconciler,
      use("emit_contradiction", {
        about: "page:refunds",
        question: "Within how many days are refunds paid?",
        sides: [
          { claim: "30 days", citations: ["docs/refunds#policy"] },
          { claim: "14 days", citations: ["docs/faq#top"] },
        ],
      }),
    ),
  ];
}

/** Two documents with incompatible pages: one refers to a page that the other removes. */
export const REMOVAL = { "a/x.md": "# X\n\nThirty days.\n", "b/y.md": "# Y\n\nNo old.\n" };
export const REMOVED_PAGE = PAGE("docs/b/y#top", "Old words.");

/** Lanes, two units, a reconciliation, and the repair of the dead ref. */
export const REMOVAL_REQUESTS = 11;

export const removalScript = (): Rule[] => [
  giveLanes(() => ({ lane: "full" })),
  agent(reads("a/x.md"), verify, writePage("days", "Thirty days. [^docs/a/x#top]", { refs: ["page:old"] })),
  agent(reads("b/y.md"), verify, use("wiki_remove", { key: "old", reason: "Gone.", citations: ["docs/b/y#top"] })),
  agent(
    isRepair,
    use("read_file"),
    use("write_file", (request) => ({ content: fileRead(request).replace(/refs:\n {2}- page:old/, "refs: []") })),
  ),
  agent(isReconciler),
];
