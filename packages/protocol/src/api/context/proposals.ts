import { z } from "zod";
import { evidence } from "./evidence.ts";
import { count, pageOf, pageQuery } from "../page.ts";

/** The default number of files of a proposal per page; a page is also limited in bytes. */
export const PROPOSAL_FILES = 50;

/** `open`: at least one hunk awaits a decision. `partly`: all hunks are decided and some were rejected. */
export const PROPOSAL_STATES = ["open", "accepted", "partly", "rejected"] as const;

/** The subject of a changed line; rules of acceptance refer to it. */
export const ASPECTS = ["structure", "profile", "join", "description", "wiki", "memory", "metric"] as const;

/** The subject of a hunk: its aspect, with primary and unique keys apart from other structure. */
export const HUNK_KINDS = ["structure", "key", "profile", "join", "description", "wiki", "memory", "metric"] as const;

/** The strongest evidence of a hunk: a person, a session, a document, a model's judgement, or only the database. */
export const HUNK_ORIGINS = ["person", "session", "source", "model", "data"] as const;

const PATHS = "Patterns for files or tables, such as `wiki/finance/**`, `shop/sales.*` or `order*`.";
const CONFIDENCE = "Only joins with at least this confidence, from 0 to 1.";
const CERTAIN = "Only joins that were verified in the data, or only the others.";

const hunkFilter = z
  .strictObject({
    kinds: z.array(z.enum(HUNK_KINDS)).min(1).optional(),
    origins: z.array(z.enum(HUNK_ORIGINS)).min(1).optional(),
    paths: z.array(z.string().min(1).max(1_000)).min(1).max(100).optional().meta({ description: PATHS }),
    min_confidence: z.number().min(0).max(1).optional().meta({ description: CONFIDENCE }),
    certain: z.boolean().optional().meta({ description: CERTAIN }),
  })
  .meta({ id: "HunkFilter" });

/** The same filter as parameters of a URL. */
const filterQuery = {
  kinds: hunkFilter.shape.kinds,
  origins: hunkFilter.shape.origins,
  paths: hunkFilter.shape.paths,
  min_confidence: z.coerce.number<number>().min(0).max(1).optional(),
  certain: z.enum(["true", "false"]).optional(),
};

const counts = z.object({ open: z.int(), accepted: z.int(), rejected: z.int(), conflict: z.int() });

/** Hunks of one kind and origin in one schema or folder. */
const hunkGroup = z
  .object({
    title: z.string(),
    kind: z.enum(HUNK_KINDS),
    origin: z.enum(HUNK_ORIGINS),
    certain: z.boolean(),
    /** The schema or folder, such as `catalogue/shop/public` or `wiki/finance`. */
    area: z.string(),
    files: z.int(),
    counts,
    /** Open hunks that no filter accepts. */
    held: z.int(),
    /** The range of the joins' confidence; null for other kinds. */
    confidence: z.object({ min: z.number(), max: z.number() }).nullable(),
    /** Selects exactly this group. */
    filter: hunkFilter,
  })
  .meta({ id: "HunkGroup" });
export type HunkGroup = z.infer<typeof hunkGroup>;

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
  counts,
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
    /** All of its hunks by kind, origin and place, for large proposals. */
    groups: z.array(hunkGroup),
    /** The `page` parameter for the next files of the proposal. */
    next_page: z.string().nullable(),
  })
  .meta({ id: "Proposal" });
export type Proposal = z.infer<typeof proposal>;

const hunks = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .meta({ description: "Default, without `filter`: all open hunks." });

const filter = hunkFilter.optional().meta({ description: "All open hunks that match, instead of `hunks`." });
const EITHER = "expected `hunks` or `filter`, not both";
const isEither = (body: { hunks?: unknown; filter?: unknown }) => body.hunks === undefined || body.filter === undefined;

export const proposalsApi = {
  "proposals.list": {
    query: z.strictObject({ ...pageQuery, states: z.array(z.enum(PROPOSAL_STATES)).optional() }),
    response: pageOf(proposalSummary),
  },
  "proposals.retrieve": {
    query: z.strictObject({
      limit: count().min(1).max(1_000).default(PROPOSAL_FILES),
      page: z.string().min(1).optional(),
      ...filterQuery,
    }),
    response: proposal,
  },
  "proposals.preview": {
    query: z.strictObject(filterQuery),
    response: z
      .object({
        /** Open hunks that accepting with this filter would take. */
        hunks: z.int(),
        files: z.int(),
        /** Matching open hunks that only a person's own choice of hunks accepts. */
        held: z.int(),
        groups: z.array(hunkGroup),
      })
      .meta({ id: "ProposalPreview" }),
  },
  "proposals.accept": {
    body: z.strictObject({ hunks, filter }).refine(isEither, EITHER).meta({ id: "AcceptProposal" }),
    response: proposal,
  },
  "proposals.reject": {
    body: z
      .strictObject({ hunks, filter, reason: z.string().max(10_000).optional() })
      .refine(isEither, EITHER)
      .meta({ id: "RejectProposal" }),
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
