import type { EvalArm } from "@tandem/protocol";
import { type Estimate, estimateUsd } from "../runs/spending-limit.ts";

/** Expected model requests of a trial. More tools mean more looking before the answer. */
const STEPS: Record<EvalArm, number> = { bare: 3, catalogue: 5, joins: 6, wiki: 7, metrics: 7, planted: 7 };

const TOKENS = { perCharacter: 0.3, tools: 2_500, perStep: 900, answer: 250 };

/** Estimates trials before they are asked. Each request repeats the conversation so far. */
export function estimateTrials(model: string, trials: readonly { arm: EvalArm; prompt: string }[]): Estimate {
  let [requests, inputTokens, outputTokens] = [0, 0, 0];
  for (const { arm, prompt } of trials) {
    const steps = STEPS[arm];
    requests += steps;
    const first = prompt.length * TOKENS.perCharacter + TOKENS.tools;
    inputTokens += steps * first + (TOKENS.perStep * steps * (steps - 1)) / 2;
    outputTokens += steps * TOKENS.answer;
  }
  return { requests, usd: estimateUsd(model, { requests, inputTokens, outputTokens }) };
}
