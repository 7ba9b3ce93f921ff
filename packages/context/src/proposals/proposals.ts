import type { Evidence } from "../evidence.ts";
import type { Aspect, Decision, Proposal, ProposalSummary } from "./proposal.ts";

/** What lines of a file rest on, from 1, both ends included. */
export interface Support {
  from: number;
  to: number;
  aspect: Aspect;
  evidence: readonly Evidence[];
  /** It was verified, so that a rule may accept it: for joins. */
  certain?: boolean;
  /** Why no rule may accept it. */
  held?: string;
}

/** A file as a run wants it to be. */
export interface Draft {
  path: string;
  /** As it was when the run looked; null if it was not there. */
  before: string | null;
  /** Null: it goes. */
  after: string | null;
  /** Of the lines of `after`. Of lines that are named more than once the evidence adds up, and the stricter aspect counts. */
  support: readonly Support[];
  /** Of the lines of `before`, for those that go with nothing in their place. */
  removal?: readonly Support[];
}

export interface ProposalPage {
  /** With the files of this page alone. */
  proposal: Proposal;
  /** What the next page comes after; null where this is the last. */
  next: string | null;
}

/**
 * The only way into the context. Drafts become hunks with their evidence; what was rejected before is left out, what a rule
 * accepts is committed at once, and the rest waits. A changed line that rests on nothing is a defect of the run: refused.
 */
export interface Proposals {
  /** Undefined if nothing is left to propose. The same drafts of the same job propose once. */
  propose(input: {
    job: string | null;
    title: string;
    summary: string;
    drafts: readonly Draft[];
    decisions?: readonly Decision[];
    quarantine?: string;
    /** A person wants it now: what was turned down before is not left out. */
    anew?: boolean;
  }): Promise<Proposal | undefined>;
  get(id: string): Promise<Proposal | undefined>;
  /** With some of its files, from after `after`: thousands of them are too much at once. */
  page(id: string, query: { limit: number; after?: string }): Promise<ProposalPage | undefined>;
  /** Files under a prefix of which something waits for a decision, each with the newest proposal that it waits in; without a job's own. */
  waiting(prefix: string, options: { exceptOf: string }): Promise<ReadonlyMap<string, string>>;
  /** The newest first; `after` is the id of the last one of the page before. */
  list(query: { states?: readonly Proposal["state"][]; limit: number; after?: string }): Promise<ProposalSummary[]>;
  /** Applies open hunks (all, or these) to what the files are now, three-way; those that do not fit become `conflict`. */
  accept(id: string, choice: { hunks?: readonly string[]; by: string }): Promise<Proposal>;
  /** Remembered: the same change is not proposed again. */
  reject(id: string, choice: { hunks?: readonly string[]; by: string; reason?: string }): Promise<Proposal>;
  /** Replaces the new text of a file in an open proposal by a person's own; its evidence becomes the person. */
  edit(id: string, edit: { path: string; after: string; by: string }): Promise<Proposal>;
  answer(id: string, answer: { decision: string; answer: string; by: string }): Promise<Proposal>;
  /** Undoes what was accepted of it; it is not proposed again. */
  undo(id: string, by: string): Promise<Proposal>;
}
