/** From harmless to severe: the verdict on a statement is that of its worst part. */
export const VERDICTS = [
  "proven",
  "deviates",
  "lossy",
  "can_inflate",
  "unknown_join",
  "wrong_grain",
  "inflated",
  "not_judged",
] as const;
export type VerdictKind = (typeof VERDICTS)[number];

export interface VerdictPart {
  readonly kind: Exclude<VerdictKind, "proven" | "not_judged">;
  /** The aggregate whose value is affected: `sum(o.total)`. */
  readonly aggregate?: string;
  /** The relation whose rows are affected. */
  readonly relation?: string;
  readonly message: string;
  /** How to count its repeated rows; undefined if that is not known. */
  readonly measurable?: {
    readonly alias: string;
    /** Columns that identify a row. */
    readonly key: readonly string[];
    /** The column that is summed, if the aggregate is the sum of one. */
    readonly value?: string;
  };
  /** Measured: the value divided by the one without repeated rows. */
  readonly factor?: number;
}

export interface Verdict {
  readonly verdict: VerdictKind;
  readonly parts: readonly VerdictPart[];
  /** Why it was not judged. */
  readonly reason?: string;
}

export function verdictOf(parts: readonly VerdictPart[]): Verdict {
  const worst = parts.reduce((at, { kind }) => Math.max(at, VERDICTS.indexOf(kind)), 0);
  return { verdict: VERDICTS[worst]!, parts };
}
