import type { ASPECTS, Evidence } from "@tandem/protocol";

/** The kind of a changed line. It decides which rules may accept it. */
export type Aspect = (typeof ASPECTS)[number];

/** Evidence for lines of a file, from 1, inclusive. */
export interface Support {
  from: number;
  to: number;
  aspect: Aspect;
  evidence: readonly Evidence[];
  /** Verified, so that a rule may accept it; for joins. */
  certain?: boolean;
  /** Why no rule may accept it. */
  held?: string;
}

/** A file as a run wants it. */
export interface Draft {
  path: string;
  /** Content when the run read it; null if it did not exist. */
  before: string | null;
  /** Null: it is removed. */
  after: string | null;
  /** Evidence for lines of `after`. For overlapping ranges evidence adds up, and the stricter aspect applies. */
  support: readonly Support[];
  /** Evidence for lines of `before` that are removed without replacement. */
  removal?: readonly Support[];
}
