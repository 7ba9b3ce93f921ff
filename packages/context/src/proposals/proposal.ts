import { ASPECTS, PROPOSAL_STATES } from "@tandem/protocol";
import { z } from "zod";
import { evidence } from "../evidence.ts";

export { ASPECTS, PROPOSAL_STATES } from "@tandem/protocol";

/** Neighbouring lines that are decided together. */
const hunk = z.strictObject({
  /** Number within its proposal; stable. */
  id: z.string(),
  /** Start and lines in the old and new file; from 1. */
  oldStart: z.int(),
  oldLines: z.array(z.string()),
  newStart: z.int(),
  newLines: z.array(z.string()),
  aspect: z.enum(ASPECTS),
  /** Verified, so that a rule may accept it; for joins. */
  certain: z.boolean().optional(),
  /** Why no rule may accept it, for example a suspected prompt injection. */
  held: z.string().optional(),
  /** Identifies the same change when proposed again. */
  fingerprint: z.string(),
  /** Evidence of each new line: indexes into the change's `evidence`. */
  support: z.array(z.array(z.int())),
  /** Evidence for the removed lines. */
  removal: z.array(z.int()),
  state: z.enum(["open", "accepted", "rejected", "conflict"]),
  /** Reason of the decision, or the conflict. */
  note: z.string().optional(),
  decidedBy: z.string().optional(),
  decidedAt: z.string().optional(),
  /** Commit of an accepted hunk; absent if the content already existed. */
  commit: z.string().optional(),
});
export type Hunk = z.output<typeof hunk>;

export const change = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  /** With every hunk applied. */
  after: z.string().nullable(),
  evidence: z.array(evidence),
  hunks: z.array(hunk),
});
export type Change = z.output<typeof change>;

/** A question for a person that no line can show: a contradiction with both sides. */
const decision = z.strictObject({
  id: z.string(),
  kind: z.enum(["contradiction", "eviction", "conflict"]),
  /** The page, table or memory concerned. */
  about: z.string(),
  question: z.string(),
  sides: z.array(z.strictObject({ claim: z.string(), evidence: z.array(evidence) })),
  /** Null until answered. */
  answer: z.string().nullable(),
  answeredBy: z.string().optional(),
});
export type Decision = z.output<typeof decision>;

/** A proposal without its lines, for lists. */
export const proposalSummary = z.strictObject({
  id: z.string(),
  job: z.string().nullable(),
  title: z.string(),
  summary: z.string(),
  state: z.enum(PROPOSAL_STATES),
  /** For example a suspected prompt injection: rules never accept it. */
  quarantine: z.string().nullable(),
  /** The commit it is based on. */
  base: z.string(),
  files: z.int(),
  /** Hunks by state. */
  counts: z.strictObject({ open: z.int(), accepted: z.int(), rejected: z.int(), conflict: z.int() }),
  decisions: z.array(decision),
  /** Its commits that were not reverted. */
  commits: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ProposalSummary = z.output<typeof proposalSummary>;

export const proposal = proposalSummary.extend({ changes: z.array(change) });
export type Proposal = z.output<typeof proposal>;
