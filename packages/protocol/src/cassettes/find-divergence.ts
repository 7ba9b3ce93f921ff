import type { CassetteStep } from "./cassette.ts";
import { normaliseSteps, type NormalStep, type StepComparison } from "./normalise-steps.ts";

/** The first step in which a run differs from the recorded one. A side is null if it has no such step. */
export interface Divergence {
  /** The number in the recorded cassette; one more than its last step if the run continued. */
  step: number;
  kind: CassetteStep["kind"] | "folder";
  expected: Record<string, unknown> | null;
  actual: Record<string, unknown> | null;
}

interface Comparison {
  mode: StepComparison;
  /** The run has not ended: compare what it did so far. */
  isRunning?: boolean;
}

export function findDivergence(
  recorded: readonly CassetteStep[],
  run: readonly CassetteStep[],
  { mode, isRunning = false }: Comparison,
): Divergence | undefined {
  if (!isRunning) return findInOrder(recorded, run, { mode });
  // Subagents run side by side: each has got as far as it has.
  const threads = new Set(run.map(({ thread }) => thread));
  const found = [...threads].flatMap((thread) => {
    const [left, right] = [recorded, run].map((steps) => steps.filter((step) => step.thread === thread));
    return findInOrder(left!, right!, { mode, isRunning }) ?? [];
  });
  return found.toSorted((a, b) => a.step - b.step)[0];
}

function findInOrder(
  recorded: readonly CassetteStep[],
  run: readonly CassetteStep[],
  { mode, isRunning = false }: Comparison,
): Divergence | undefined {
  // A running session may wait for inputs that come next, whose place is before the calls of their answer.
  const isCompared = (step: CassetteStep): boolean => !isRunning || (step.kind !== "input" && !isWaiting(step));
  const expected = recorded.filter(isCompared);
  const actual = run.filter(isCompared);
  const sides = [normaliseSteps(expected, mode), normaliseSteps(actual, mode)] as const;
  const length = isRunning ? actual.length : Math.max(expected.length, actual.length);
  // Later events complete the last answer and its calls.
  const open = isRunning ? actual.findLastIndex(({ kind }) => kind === "model") : Infinity;
  for (let index = 0; index < length; index += 1) {
    const [wanted, found] = [sides[0][index] ?? null, sides[1][index] ?? null];
    // The end of a subagent's answer may be logged after its next request.
    const isOpen = found !== null && (index >= open || (isRunning && found["answer"] === null));
    const left = isOpen && wanted !== null ? withoutEnd(wanted) : wanted;
    const right = isOpen ? withoutEnd(found) : found;
    if (isEqual(left, right)) continue;
    const step = expected[index]?.step ?? (recorded.at(-1)?.step ?? 0) + 1;
    return { step, kind: (wanted ?? found)!.kind, expected: left, actual: right };
  }
  return undefined;
}

const isWaiting = (step: CassetteStep): boolean => step.kind === "idle" && step.waiting_for !== undefined;

function withoutEnd({ answer: _answer, result: _result, approval: _approval, ...step }: NormalStep): NormalStep {
  return step;
}

/** Deep equality of JSON values; an undefined field equals an absent one. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isEqual(valueAt(a, key), valueAt(b, key)));
}

const valueAt = (value: object, key: string): unknown => (value as Record<string, unknown>)[key];
