import { z } from "zod";
import { evidence } from "../evidence.ts";

/** What a changed line is about: rules of acceptance are made by it. */
export const ASPECTS = ["structure", "profile", "join", "description", "wiki", "memory"] as const;
export type Aspect = (typeof ASPECTS)[number];

/** A group of neighbouring lines that is accepted or rejected as one. */
export const hunk = z.strictObject({
  /** Within its proposal: `3` of the third, stable for as long as the proposal is. */
  id: z.string(),
  /** First line in the old file and how many, first line in the new one and how many; from 1. */
  oldStart: z.int(),
  oldLines: z.array(z.string()),
  newStart: z.int(),
  newLines: z.array(z.string()),
  aspect: z.enum(ASPECTS),
  /** For each new line what it rests on: indexes into the change's `evidence`. */
  support: z.array(z.array(z.int())),
  /** For the lines that go. */
  removal: z.array(z.int()),
  state: z.enum(["open", "accepted", "rejected", "conflict"]),
  /** Why the rule or person decided so, or what it conflicts with. */
  note: z.string().optional(),
  decidedBy: z.string().optional(),
  decidedAt: z.string().optional(),
});
export type Hunk = z.output<typeof hunk>;

export const change = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  evidence: z.array(evidence),
  hunks: z.array(hunk),
});
export type Change = z.output<typeof change>;

/** Something that a person has to decide though no line can show it: a contradiction with both sides. */
export const decision = z.strictObject({
  id: z.string(),
  kind: z.enum(["contradiction", "eviction", "conflict"]),
  /** The page, table or memory that it is about. */
  about: z.string(),
  question: z.string(),
  sides: z.array(z.strictObject({ claim: z.string(), evidence: z.array(evidence) })),
  answer: z.string().nullable(),
});
export type Decision = z.output<typeof decision>;

export const proposal = z.strictObject({
  id: z.string(),
  job: z.string().nullable(),
  title: z.string(),
  summary: z.string(),
  state: z.enum(["open", "accepted", "partly", "rejected"]),
  /** Suspected prompt injection, for example: rules never accept it. */
  quarantine: z.string().nullable(),
  base: z.string(),
  changes: z.array(change),
  decisions: z.array(decision),
  commits: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type Proposal = z.output<typeof proposal>;
