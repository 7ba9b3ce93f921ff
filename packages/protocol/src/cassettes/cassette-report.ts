import type { Divergence } from "./find-divergence.ts";
import type { ReplayMode } from "./normalise-steps.ts";

// The reports of `tandem cassettes replay`, `test` and `compare` with `--json`. The page shows them.

export interface ShownDivergence extends Divergence {
  /** The steps as a diff: lines that begin with `-` (expected), `+` (actual), a space or `@@`. */
  diff: string[];
  /** Where the actual step comes from: the replay, or the events of the cassette itself. */
  from: "replay" | "events";
}

export interface ReplayReport {
  report: "replay";
  file: string;
  identical: boolean;
  mode: ReplayMode;
  /** The number of recorded steps. */
  steps: number;
  divergence: ShownDivergence | null;
}

export interface TestReport {
  report: "test";
  passed: number;
  failed: number;
  cases: {
    name: string;
    cassette: string;
    passed: boolean;
    /** A sentence per failed assertion. */
    failures: string[];
    divergence: ShownDivergence | null;
    steps: number;
    duration_ms: number;
    /** `--update` has replaced the cassette. */
    updated: boolean;
  }[];
}

/** One session as people compare it with another. */
export interface RunSummary {
  model: string;
  /** The text of each turn's last answer. */
  answers: string[];
  /** The calls in order: tool and input. */
  tools: string[];
  /** The results of these calls as text. */
  results: string[];
  approvals: number;
  /** At the list prices of this version, for both sides. Null if a model has none. */
  usd: number | null;
  tokens: number;
  /** From the first to the last event. Null without dates. */
  duration_ms: number | null;
}

export interface ComparisonReport {
  report: "comparison";
  /** The files of both sides. */
  names: [string, string];
  a: RunSummary;
  b: RunSummary;
  /** The fields that differ. */
  different: (keyof RunSummary | "files")[];
  /** How the files after B differ from those after A, as a patch. Null if a cassette has no folder. */
  files: string | null;
}

export type CassetteReport = ReplayReport | TestReport | ComparisonReport;

/** Where the first difference is, and what the two sides of its diff are, in words. */
export function describeDivergence(
  { step, kind, expected, actual, from }: ShownDivergence,
  steps: number,
): { place: string; why: string } {
  const place =
    kind === "folder" ? "The folder differs after the last step." : `Step ${step} of ${steps} (${kind}) differs.`;
  if (from === "events") {
    return { place, why: "The file was changed: this step contradicts the cassette's own events (+)." };
  }
  if (expected === null) return { place, why: "The replay continued after the last recorded step (+)." };
  if (actual === null) return { place, why: "The replay has no such step (-)." };
  return { place, why: "Expected (-) and actual (+):" };
}
