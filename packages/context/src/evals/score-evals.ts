import type { EvalResult, EvalScore } from "@tandem/protocol";

/** 95 %. */
const Z = 1.959964;

export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** pass^k: the chance that k trials, drawn without replacement from n of which c passed, all pass. */
export function passHatK(passed: number, trials: number, k: number): number {
  if (k > trials) return Number.NaN;
  let share = 1;
  for (let i = 0; i < k; i += 1) share *= Math.max(0, passed - i) / (trials - i);
  return share;
}

/** The Wilson score interval of a share among n. It stays within 0 and 1, and is usable for few questions. */
export function wilson(share: number, n: number): Interval {
  if (n === 0) return { value: 0, low: 0, high: 1 };
  const centre = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return { value: share, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/**
 * Scores per arm, over all questions and per tag. Questions count equally; the intervals are of questions, not of trials,
 * because the trials of one question resemble each other.
 */
export function scoreEvals(results: readonly EvalResult[], trials: number): EvalScore[] {
  const arms = [...new Set(results.map(({ arm }) => arm))];
  return arms.flatMap((arm) => {
    const ofArm = results.filter((result) => result.arm === arm);
    const tags = [...new Set(ofArm.flatMap((result) => result.tags))].sort();
    return [
      scoreOf(arm, null, ofArm, trials),
      ...tags.map((tag) =>
        scoreOf(
          arm,
          tag,
          ofArm.filter((result) => result.tags.includes(tag)),
          trials,
        ),
      ),
    ];
  });
}

function scoreOf(arm: EvalScore["arm"], tag: string | null, all: readonly EvalResult[], trials: number): EvalScore {
  // A question without a finished trial says nothing about the agent.
  const results = all.filter((result) => result.trials.length > 0);
  const n = results.length;
  const done = results.flatMap((result) => result.trials);
  const share = (of: (result: EvalResult) => number) => wilson(mean(results.map(of)), n);
  const k = Math.min(trials, ...results.map((result) => result.trials.length));
  return {
    arm,
    tag,
    questions: n,
    trials: done.length,
    k: n === 0 ? trials : k,
    pass_at_1: share((result) => passedOf(result) / result.trials.length),
    pass_hat_k: share((result) => passHatK(passedOf(result), result.trials.length, k)),
    wrong_but_confident: share(
      (result) => result.trials.filter((trial) => trial.outcome === "wrong").length / result.trials.length,
    ),
    tokens: sum(done.map((trial) => trial.input_tokens + trial.output_tokens)),
    usd: done.some((trial) => trial.usd === null) ? null : sum(done.map((trial) => trial.usd ?? 0)),
  };
}

export const passedOf = ({ trials }: Pick<EvalResult, "trials">): number =>
  trials.filter(({ passed }) => passed).length;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : sum(values) / values.length);
