import { ASPECTS, PROPOSAL_STATES } from "@tandem/protocol";
import { z } from "zod";
import { evidence } from "../evidence.ts";

export { ASPECTS, PROPOSAL_STATES } from "@tandem/protocol";

export type Aspect = (typeof ASPECTS)[number];

/** A group of neighbouring lines that is accepted or rejected as one. */
const hunk = z.strictObject({
  /** Within its proposal: `3` of the third, stable for as long as the proposal is. */
  id: z.string(),
  /** First line in the old file and how many, first line in the new one and how many; from 1. */
  oldStart: z.int(),
  oldLines: z.array(z.string()),
  newStart: z.int(),
  newLines: z.array(z.string()),
  aspect: z.enum(ASPECTS),
  /** It was verified, so that a rule may accept it: for joins. */
  certain: z.boolean().optional(),
  /** Why no rule may accept it: a text in it may be meant for a model, for example. */
  held: z.string().optional(),
  /** Of the same change at the same place, proposed again. */
  fingerprint: z.string(),
  /** For each new line what it rests on: indexes into the change's `evidence`. */
  support: z.array(z.array(z.int())),
  /** For the lines that go. */
  removal: z.array(z.int()),
  state: z.enum(["open", "accepted", "rejected", "conflict"]),
  /** Why the rule or person decided so, or what it conflicts with. */
  note: z.string().optional(),
  decidedBy: z.string().optional(),
  decidedAt: z.string().optional(),
  /** Of an accepted one: the commit that has it; absent where it stood there already. */
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

/** Something that a person has to decide though no line can show it: a contradiction with both sides. */
const decision = z.strictObject({
  id: z.string(),
  kind: z.enum(["contradiction", "eviction", "conflict"]),
  /** The page, table or memory that it is about. */
  about: z.string(),
  question: z.string(),
  sides: z.array(z.strictObject({ claim: z.string(), evidence: z.array(evidence) })),
  /** Null while nobody has given one. */
  answer: z.string().nullable(),
  answeredBy: z.string().optional(),
});
export type Decision = z.output<typeof decision>;

/** All of a proposal but its lines, for lists. */
export const proposalSummary = z.strictObject({
  id: z.string(),
  job: z.string().nullable(),
  title: z.string(),
  summary: z.string(),
  state: z.enum(PROPOSAL_STATES),
  /** Suspected prompt injection, for example: rules never accept it. */
  quarantine: z.string().nullable(),
  /** The commit that it was made on. */
  base: z.string(),
  files: z.int(),
  /** Hunks by their state. */
  counts: z.strictObject({ open: z.int(), accepted: z.int(), rejected: z.int(), conflict: z.int() }),
  decisions: z.array(decision),
  /** Those that were made of it, and not undone. */
  commits: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type ProposalSummary = z.output<typeof proposalSummary>;

export const proposal = proposalSummary.extend({ changes: z.array(change) });
export type Proposal = z.output<typeof proposal>;
