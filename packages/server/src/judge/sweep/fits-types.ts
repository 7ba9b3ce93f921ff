import { typeMismatches, type TypedValue, type TypeMismatch } from "@tandem/rehearsal";
import type { MethodOutcome } from "./run-sweep.ts";

const PRELUDE = [
  'import type Anthropic from "@anthropic-ai/sdk";',
  "type Answer<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;",
  "type Items<P> = P extends { getPaginatedItems(): infer I } ? I : never;",
  "type Streamed<S> = S extends AsyncIterable<infer E> ? E[] : never;",
];

/** Compares the answers of a sweep with the return types of the client's methods. */
export const misfits = (outcomes: readonly MethodOutcome[]): Promise<TypeMismatch[]> =>
  typeMismatches(
    outcomes.flatMap((outcome) => valueOf(outcome) ?? []),
    { folder: import.meta.dirname, library: "@anthropic-ai/sdk", prelude: PRELUDE },
  );

function valueOf({ name, outcome }: MethodOutcome): TypedValue | undefined {
  if (outcome.type !== "works" || typeof outcome.answer !== "object" || outcome.answer === null) return undefined;
  const path = name.split(".").map((part) => `["${part}"]`);
  const type = `Answer<Anthropic${path.join("")}>`;
  const { answer } = outcome;
  if (answer instanceof Response) return undefined;
  if ("getPaginatedItems" in answer) {
    return { name, type: `Items<${type}>`, value: withoutOurs((answer as Page).getPaginatedItems()) };
  }
  if (Array.isArray(answer)) return { name, type: `Streamed<${type}>`, value: withoutOurs(answer) };
  return { name, type, value: answer };
}

interface Page {
  getPaginatedItems(): unknown[];
}

const withoutOurs = (items: readonly unknown[]): unknown[] =>
  (items as readonly { type?: string }[]).filter(({ type }) => !type?.startsWith("tandem."));
