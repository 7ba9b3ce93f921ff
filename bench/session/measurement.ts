import type { Sample } from "./sample.ts";
import type { Stage } from "./stage.ts";

/** The row of the report for one sample. */
export interface Row {
  what: string;
  unit: "ms" | "MiB" | "turns/s";
  target?: Target;
}

/** `bare`: ratio to a bare call. `absolute`: in the row's unit. `row`: ratio to another row of the same measurement. */
export type Target =
  | { of: "bare"; atMost: number }
  | { of: "absolute"; atMost: number }
  | { of: "absolute"; atLeast: number }
  | { of: "row"; row: string; atMost: number };

/** Measures some rows together. Every round gives one sample of each row; the first round is a warm-up. */
export interface Measurement<Key extends string = string> {
  /** Default: the number given on the command line. */
  maxRounds?: number;
  rows: Readonly<Record<Key, Row>>;
  open(stage: Stage): Promise<Rounds<Key>>;
}

export interface Rounds<Key extends string = string> extends AsyncDisposable {
  round(): Promise<Partial<Record<Key, Sample>>>;
}
