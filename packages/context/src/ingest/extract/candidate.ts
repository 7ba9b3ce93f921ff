import { z } from "zod";

export const CANDIDATE_ACTIONS = ["create", "update", "merge", "conflict"] as const;

/** `deferred`: beyond a run's budget; the next run decides. `superseded`: its document has changed. */
const CANDIDATE_STATES = ["open", "deferred", "promoted", "merged", "rejected", "superseded"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

const score = z.int().min(0).max(3);

/** Value of a candidate: 0 is little, 3 is much. */
export const scores = z.strictObject({
  durability: score.describe("Will it still be true in a year?"),
  authority: score.describe("Does its author decide about it?"),
  reuse: score.describe("Will others need it again and again?"),
  novelty: score.describe("Would an expert of the trade not know it anyway?"),
  risk: score.describe("How much harm is done if it is wrong or not meant to be known?"),
});

/** A statement of a document worth keeping; kind `candidate`, by `id`. */
export const candidate = z.strictObject({
  /** `<document's citation>#<hash prefix>/<key>`: deterministic per statement and version. */
  id: z.string(),
  key: z.string(),
  document: z.string(),
  source: z.string(),
  path: z.string(),
  /** The document's version. */
  sha256: z.string(),
  topic: z.string(),
  assertion: z.string(),
  rationale: z.string(),
  /** Supporting passages; all existed when it was written. */
  citations: z.array(z.string()).min(1),
  suggestedPage: z.string().nullable(),
  action: z.enum(CANDIDATE_ACTIONS),
  scores,
  /** Why it needs a person's review; null if it does not. */
  suspicious: z.string().nullable(),
  state: z.enum(CANDIDATE_STATES),
  /** Reason for the state. */
  note: z.string().nullable(),
  job: z.string(),
  createdAt: z.string(),
});
export type Candidate = z.output<typeof candidate>;

/** Most valuable first. */
export const worthOf = ({ scores }: Pick<Candidate, "scores">): number =>
  scores.durability + scores.authority + scores.reuse + scores.novelty - scores.risk;
