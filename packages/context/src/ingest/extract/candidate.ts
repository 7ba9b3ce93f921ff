import { z } from "zod";

export const CANDIDATE_ACTIONS = ["create", "update", "merge", "conflict"] as const;

/** `deferred`: a run's budget ended before it was looked at; the next one does. `superseded`: its document has changed. */
const CANDIDATE_STATES = ["open", "deferred", "promoted", "merged", "rejected", "superseded"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

const score = z.int().min(0).max(3);

/** How much a candidate is worth: 0 is little, 3 is much. */
export const scores = z.strictObject({
  durability: score.describe("Will it still be true in a year?"),
  authority: score.describe("Does whoever wrote it decide about it?"),
  reuse: score.describe("Will others need it again and again?"),
  novelty: score.describe("Would an expert of the trade not know it anyway?"),
  risk: score.describe("How much harm is done if it is wrong or not meant to be known?"),
});

/** Something worth knowing that a document says, on its way to a page; kind `candidate`, by `id`. */
export const candidate = z.strictObject({
  /** `<document's citation>#<beginning of its hash>/<key>`: the same statement of the same version is the same candidate. */
  id: z.string(),
  key: z.string(),
  document: z.string(),
  source: z.string(),
  path: z.string(),
  /** The version of the document that says so. */
  sha256: z.string(),
  topic: z.string(),
  assertion: z.string(),
  rationale: z.string(),
  /** Passages that it rests on; every one of them existed when it was written. */
  citations: z.array(z.string()).min(1),
  suggestedPage: z.string().nullable(),
  action: z.enum(CANDIDATE_ACTIONS),
  scores,
  /** Why what is made of it must not be accepted by a rule; null if nothing speaks against it. */
  suspicious: z.string().nullable(),
  state: z.enum(CANDIDATE_STATES),
  /** Why it is in that state. */
  note: z.string().nullable(),
  job: z.string(),
  createdAt: z.string(),
});
export type Candidate = z.output<typeof candidate>;

/** What is worth most comes first. */
export const worthOf = ({ scores }: Pick<Candidate, "scores">): number =>
  scores.durability + scores.authority + scores.reuse + scores.novelty - scores.risk;
