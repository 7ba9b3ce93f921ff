import { type StatementVerdict, VERDICTS, type VerdictPart as ShownPart } from "@tandem/protocol";

export interface VerdictPart extends Readonly<ShownPart> {
  /** How to count its repeated rows; undefined if that is not known. */
  readonly measurable?: {
    readonly alias: string;
    /** Columns that identify a row. */
    readonly key: readonly string[];
    /** The column that is summed, if the aggregate is the sum of one. */
    readonly value?: string;
  };
}

export interface Verdict extends Readonly<Omit<StatementVerdict, "parts">> {
  readonly parts: readonly VerdictPart[];
}

export function verdictOf(parts: readonly VerdictPart[]): Verdict {
  const worst = parts.reduce((at, { kind }) => Math.max(at, VERDICTS.indexOf(kind)), 0);
  return { verdict: VERDICTS[worst]!, parts };
}
