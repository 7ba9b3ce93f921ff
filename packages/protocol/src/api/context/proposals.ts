import { z } from "zod";
import { evidence } from "./evidence.ts";
import { count, pageOf, pageQuery } from "../page.ts";

/** The default number of files of a proposal per page; a page is also limited in bytes. */
export const PROPOSAL_FILES = 50;

/** `open`: at least one hunk awaits a decision. `partly`: all hunks are decided and some were rejected. */
export const PROPOSAL_STATES = ["open", "accepted", "partly", "rejected"] as const;

/** The subject of a changed line; rules of acceptance refer to it. */
export const ASPECTS = ["structure", "profile", "join", "description", "wiki", "memory"] as const;

const hunk = z.object({
  /** Unique and stable within its proposal. */
  id: z.string(),
  old_start: z.int(),
  old_lines: z.array(z.string()),
  new_start: z.int(),
  new_lines: z.array(z.string()),
  aspect: z.enum(ASPECTS),
  certain: z.boolean().optional(),
  /** The reason why no rule may accept it. */
  held: z.string().optional(),
  fingerprint: z.string(),
  /** For each new line, indexes into the change's `evidence`. */
  support: z.array(z.array(z.int())),
  /** The same for the removed lines. */
  removal: z.array(z.int()),
  state: z.enum(["open", "accepted", "rejected", "conflict"]),
  note: z.string().optional(),
  decided_by: z.string().optional(),
  decided_at: z.string().optional(),
  commit: z.string().optional(),
});
export type Hunk = z.infer<typeof hunk>;

const change = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  evidence: z.array(evidence),
  hunks: z.array(hunk),
});
export type Change = z.infer<typeof change>;

const decision = z.object({
  id: z.string(),
  kind: z.enum(["contradiction", "eviction", "conflict"]),
  about: z.string(),
  question: z.string(),
  sides: z.array(z.object({ claim: z.string(), evidence: z.array(evidence) })),
  answer: z.string().nullable(),
  answered_by: z.string().optional(),
});
export type Decision = z.infer<typeof decision>;

const summary = z.object({
  id: z.string(),
  job: z.string().nullable(),
  title: z.string(),
  summary: z.string(),
  state: z.enum(PROPOSAL_STATES),
  quarantine: z.string().nullable(),
  base: z.string(),
  files: z.int(),
  counts: z.object({ open: z.int(), accepted: z.int(), rejected: z.int(), conflict: z.int() }),
  decisions: z.array(decision),
  commits: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});

const proposalSummary = summary.meta({ id: "ProposalSummary" });
export type ProposalSummary = z.infer<typeof proposalSummary>;

const proposal = summary
  .extend({
    changes: z.array(change),
    /** The `page` parameter for the next files of the proposal. */
    next_page: z.string().nullable(),
  })
  .meta({ id: "Proposal" });
export type Proposal = z.infer<typeof proposal>;

const hunks = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .meta({ description: "All that are open where it is absent." });

export const proposalsApi = {
  "proposals.list": {
    query: z.strictObject({ ...pageQuery, states: z.array(z.enum(PROPOSAL_STATES)).optional() }),
    response: pageOf(proposalSummary),
  },
  "proposals.retrieve": {
    query: z.strictObject({
      limit: count().min(1).max(1_000).default(PROPOSAL_FILES),
      page: z.string().min(1).optional(),
    }),
    response: proposal,
  },
  "proposals.accept": { body: z.strictObject({ hunks }).meta({ id: "AcceptProposal" }), response: proposal },
  "proposals.reject": {
    body: z.strictObject({ hunks, reason: z.string().max(10_000).optional() }).meta({ id: "RejectProposal" }),
    response: proposal,
  },
  "proposals.edit": {
    body: z.strictObject({ path: z.string().min(1), after: z.string() }).meta({ id: "EditProposal" }),
    response: proposal,
  },
  "proposals.answer": {
    body: z
      .strictObject({ decision: z.string().min(1), answer: z.string().min(1).max(10_000) })
      .meta({ id: "AnswerProposal" }),
    response: proposal,
  },
  "proposals.undo": { response: proposal },
};
