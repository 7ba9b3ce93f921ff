import type { EvalChecks, EvalComparison, EvalResult, EvalTally } from "@tandem/protocol";
import { passedOf } from "./score-evals.ts";

/**
 * The questions that a change fixes or breaks, by arm. A question counts as solved if all of its trials passed. Only
 * questions of both runs are compared.
 */
export function compareRuns(before: readonly EvalResult[], after: readonly EvalResult[]): EvalComparison {
  const earlier = new Map(before.map((result) => [keyOf(result), result]));
  const comparison: EvalComparison = { compared: 0, fixes: [], breaks: [], changed: [], missing: [] };
  for (const result of after) {
    const old = earlier.get(keyOf(result));
    earlier.delete(keyOf(result));
    if (!old || old.trials.length === 0 || result.trials.length === 0) {
      comparison.missing.push(placeOf(result));
      continue;
    }
    comparison.compared += 1;
    const [was, is] = [isSolved(old), isSolved(result)];
    const change = {
      ...placeOf(result),
      before: `${passedOf(old)}/${old.trials.length}`,
      after: `${passedOf(result)}/${result.trials.length}`,
      reason: reasonOf(is ? old : result),
    };
    if (!was && is) comparison.fixes.push(change);
    else if (was && !is) comparison.breaks.push(change);
    else if (shareOf(old) !== shareOf(result)) comparison.changed.push(change);
  }
  comparison.missing.push(...[...earlier.values()].map(placeOf));
  return comparison;
}

const keyOf = ({ file, question, arm }: EvalResult): string => JSON.stringify([file, question, arm]);
const placeOf = ({ file, question, arm }: EvalResult) => ({ file, question, arm });
const isSolved = (result: EvalResult): boolean => passedOf(result) === result.trials.length;
const shareOf = (result: EvalResult): number => passedOf(result) / result.trials.length;
const reasonOf = ({ trials }: EvalResult): string | null => trials.find(({ passed }) => !passed)?.reason ?? null;

/** Adds what a change fixes and breaks of the checks without a model; those have no arm. */
export function compareChecks(before: EvalChecks, after: EvalChecks, comparison: EvalComparison): EvalComparison {
  const result: EvalComparison = { ...comparison, fixes: [...comparison.fixes], breaks: [...comparison.breaks] };
  for (const name of ["gold", "finds", "values", "joins"] as const) {
    const lost = (missed: EvalTally["missed"], other: EvalTally["missed"]) =>
      missed.filter((each) => !other.some((known) => isSameMiss(each, known)));
    const [was, is] = [before[name].missed, after[name].missed];
    const changeOf = (each: EvalTally["missed"][number], isFix: boolean) => ({
      file: each.file,
      question: each.question,
      arm: null,
      before: isFix ? "missed" : "found",
      after: isFix ? "found" : "missed",
      reason: `${name}: ${each.message}`,
    });
    result.fixes.push(...lost(was, is).map((each) => changeOf(each, true)));
    result.breaks.push(...lost(is, was).map((each) => changeOf(each, false)));
  }
  return result;
}

const isSameMiss = (a: EvalTally["missed"][number], b: EvalTally["missed"][number]): boolean =>
  a.file === b.file && a.question === b.question && a.message === b.message;
