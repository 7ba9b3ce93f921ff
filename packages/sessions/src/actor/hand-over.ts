import type { Clock } from "@tandem/protocol";
import type { TurnRunner } from "../turn/turn-runner.ts";
import type { TurnWaits } from "./turn-waits.ts";

interface Actor {
  readonly busy: boolean;
  readonly gone: boolean;
  readonly ended: Promise<void>;
}

interface HandOver {
  clock: Clock;
  withinMs: number;
  runner: TurnRunner;
  waits: TurnWaits;
  /** Releases the session after the steps that are queued before it, if `prepare` still says so. */
  leave: (prepare: () => Promise<boolean>) => Promise<void>;
}

/** Leaves a running turn to another worker: between two steps, or wherever it is at the deadline. */
export async function handOver(actor: Actor, { clock, withinMs, ...parts }: HandOver): Promise<void> {
  const deadline = new AbortController();
  const cancel = clock.after(withinMs, () => deadline.abort());
  try {
    while (!actor.gone) await tryHandOver(actor, parts, deadline.signal);
  } finally {
    cancel();
  }
}

async function tryHandOver(
  actor: Actor,
  { runner, waits, leave }: Omit<HandOver, "clock" | "withinMs">,
  late: AbortSignal,
): Promise<void> {
  const canLeave = (): boolean => !actor.busy || runner.state.isBetweenSteps || late.aborted;
  if (!canLeave()) await Promise.race([waits.step(late), actor.ended]);
  // Output arrives meanwhile: the model may have begun the next step.
  if (actor.busy) await runner.process.caughtUp();
  await leave(async () => {
    if (actor.gone || !canLeave()) return false;
    if (actor.busy) await runner.handOver();
    return true;
  });
}
