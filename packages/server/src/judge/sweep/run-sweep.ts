import { setTimeout } from "node:timers/promises";
import { APIError } from "@anthropic-ai/sdk";
import { clientMethods, type ClientMethod } from "./client-methods.ts";
import { anyParameters, type Call, type Probe, type Probes, type SweepStage } from "./probe.ts";

const DEADLINE_MS = 20_000;

export type Outcome =
  | { type: "works"; answer: unknown }
  /** An answer of the server with an error, as the client shows it. */
  | { type: "refused"; status: number; sentence: string }
  /** An error that the server did not send. */
  | { type: "failed"; sentence: string };

export interface MethodOutcome {
  name: string;
  outcome: Outcome;
  variants: Record<string, Outcome>;
  note?: string;
  /** False if the sweep had only made-up arguments for it. */
  hasProbe: boolean;
}

/** Calls every method of the client once, and once for each variant. */
export async function runSweep(stage: SweepStage, probes: Probes): Promise<MethodOutcome[]> {
  const outcomes: MethodOutcome[] = [];
  for (const method of clientMethods(stage.client)) {
    const probe = probes[method.name];
    const { run, variants = {}, note } = asObject(probe ?? madeUpCall(method));
    const outcome = await outcomeOf(method, run, stage);
    const others: Record<string, Outcome> = {};
    for (const [name, variant] of Object.entries(variants)) others[name] = await outcomeOf(method, variant, stage);
    outcomes.push({
      name: method.name,
      outcome,
      variants: others,
      hasProbe: probe !== undefined,
      ...(note && { note }),
    });
  }
  return outcomes;
}

const asObject = (probe: Probe): Exclude<Probe, Call> => (typeof probe === "function" ? { run: probe } : probe);

const madeUpCall =
  ({ resource, key }: ClientMethod): Call =>
  async () => {
    const method = resource[key] as Method;
    // A method takes an id and parameters, or only parameters. Only its source tells: parameters may have defaults.
    const [, first = ""] = /\((\w+)/.exec(String(method)) ?? [];
    const takesId = !/^(params|body|query|options|opts)$/i.test(first);
    return await method.call(resource, ...(takesId ? ["made_up"] : []), anyParameters);
  };

async function outcomeOf({ resource, key }: ClientMethod, call: Call, stage: SweepStage): Promise<Outcome> {
  // On the prototype, which copies of the client share.
  const prototype = Object.getPrototypeOf(resource) as Record<string, Method>;
  const original = prototype[key]!;
  let isCalled = false;
  const spy: Method = function spy(...args) {
    isCalled = true;
    return original.apply(this, args);
  };
  prototype[key] = Object.assign(spy, { toString: () => String(original) });
  try {
    const answer = await Promise.race([call(stage.client, stage), afterDeadline()]);
    if (!isCalled) return { type: "failed", sentence: "The probe does not call the method." };
    return { type: "works", answer };
  } catch (error) {
    if (error instanceof APIError && typeof error.status === "number") {
      return { type: "refused", status: error.status, sentence: sentenceOf(error) };
    }
    return { type: "failed", sentence: error instanceof Error ? error.message : String(error) };
  } finally {
    prototype[key] = original;
  }
}

/** Finds helpers of the client that never end. */
const afterDeadline = (): Promise<never> =>
  setTimeout(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error("The call did not end.");
  });

type Method = (this: unknown, ...args: unknown[]) => unknown;

function sentenceOf(refusal: APIError): string {
  const body: { error?: { message?: string } } | undefined = refusal.error;
  // Ids differ in every run.
  return (body?.error?.message ?? refusal.message).replaceAll(/\b([a-z]+)_[0-9A-Z]{20,}\b/g, "$1_…");
}
