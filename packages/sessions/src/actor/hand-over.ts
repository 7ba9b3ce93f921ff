import type { Clock } from "@tandem/protocol";
import type { TurnRunner } from "../turn/turn-runner.ts";
import type { TurnWaits } from "./turn-waits.ts";

/**
 * On a busy machine, a result is stored seconds after it was made. Without it, the next worker tells the model that the
 * outcome is unknown. A database that does not answer must not hold up the end for longer.
 */
const CAUGHT_UP_MS = 10_000;

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
  const until = clock.monotonic() + withinMs;
  const cancel = clock.after(withinMs, () => deadline.abort());
  try {
    while (!actor.gone) {
      const caughtUpMs = () => Math.min(CAUGHT_UP_MS, until - clock.monotonic());
      await tryHandOver(actor, { ...parts, caughtUpMs }, deadline.signal);
    }
  } finally {
    cancel();
  }
}

async function tryHandOver(
  actor: Actor,
  { runner, waits, leave, caughtUpMs }: Omit<HandOver, "clock" | "withinMs"> & { caughtUpMs: () => number },
  late: AbortSignal,
): Promise<void> {
  const canLeave = (): boolean => !actor.busy || runner.state.isBetweenSteps || late.aborted;
  if (!canLeave()) await Promise.race([waits.step(late), actor.ended]);
  // Output arrives meanwhile: the model may have begun the next step.
  if (actor.busy) await runner.process.caughtUp(caughtUpMs());
  await leave(async () => {
    if (actor.gone || !canLeave()) return false;
    if (actor.busy) await runner.handOver();
    return true;
  });
}
