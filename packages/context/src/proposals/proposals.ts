import type { Draft } from "../draft.ts";
import type { HunkFilter } from "./hunk-filter.ts";
import type { HunkGroup } from "./hunk-groups.ts";
import type { Decision, Proposal, ProposalSummary } from "./proposal.ts";

export interface ProposalPage {
  /** With only this page's files, and with a filter only the matching hunks. */
  proposal: Proposal;
  /** Of the whole proposal. */
  groups: readonly HunkGroup[];
  /** Cursor of the next page; null on the last. */
  next: string | null;
}

/** The open hunks that a decision concerns: these, those that match, or all. */
export interface HunkChoice {
  hunks?: readonly string[];
  filter?: HunkFilter;
}

interface ProposalPreview {
  /** Open hunks that accepting with the filter takes. */
  hunks: number;
  files: number;
  /** Matching open hunks that no filter accepts. */
  held: number;
  groups: readonly HunkGroup[];
}

/**
 * The only way to change the context. Drafts become hunks with evidence; rejected ones are omitted, those accepted by a
 * rule are committed at once, and the rest waits. Rejects a changed line without evidence, which is a bug of the run.
 */
export interface Proposals {
  /** Undefined if nothing is left to propose. Idempotent per job and drafts. */
  propose(input: {
    job: string | null;
    title: string;
    /** A function is called after the last draft. */
    summary: string | (() => string);
    /** Read one by one, because there may be thousands. */
    drafts: Iterable<Draft> | AsyncIterable<Draft>;
    decisions?: readonly Decision[];
    quarantine?: string;
    /** Set if a person requested the changes: they may have been rejected before. */
    includeRejected?: boolean;
  }): Promise<Proposal | undefined>;
  get(id: string): Promise<Proposal | undefined>;
  /** With one page of its files, because there may be thousands. */
  page(id: string, query: { limit: number; after?: string; filter?: HunkFilter }): Promise<ProposalPage | undefined>;
  preview(id: string, filter: HunkFilter): Promise<ProposalPreview | undefined>;
  /** Files under a prefix with open hunks, each with its newest proposal; excludes the given job's. */
  waiting(prefix: string, options: { exceptOf: string }): Promise<ReadonlyMap<string, string>>;
  /** Newest first; `after` is the last id of the previous page. */
  list(query: { states?: readonly Proposal["state"][]; limit: number; after?: string }): Promise<ProposalSummary[]>;
  /**
   * Applies open hunks to the current files, three-way; those that do not apply become `conflict`. A filter accepts no
   * held hunk, and nothing of a proposal in quarantine.
   */
  accept(id: string, choice: HunkChoice & { by: string }): Promise<Proposal>;
  /** Remembered: the same change is not proposed again. */
  reject(id: string, choice: HunkChoice & { by: string; reason?: string }): Promise<Proposal>;
  /** Replaces the new text of a file in an open proposal by a person's; its evidence becomes the person. */
  edit(id: string, edit: { path: string; after: string; by: string }): Promise<Proposal>;
  answer(id: string, answer: { decision: string; answer: string; by: string }): Promise<Proposal>;
  /** Reverts its accepted changes; they are not proposed again. */
  undo(id: string, by: string): Promise<Proposal>;
}
