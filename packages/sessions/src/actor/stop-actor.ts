import { RequestError, type Clock } from "@tandem/protocol";
import type { SessionActor } from "./session-actor.ts";

/** How long a stopped session may take to write its end. */
const LAST_WORDS_MS = 10_000;

type StoppedActor = Pick<SessionActor, "ended" | "handOver" | "idle" | "lost" | "stop">;

/**
 * Ends a session's work here within the time. With `handsOver`, a running turn is left to another worker. Never rejects: a session
 * that fails must not cut off the others.
 */
export async function stopActor(
  actor: StoppedActor,
  { clock, handsOver, withinMs }: { clock: Clock; handsOver: boolean; withinMs: number },
): Promise<void> {
  if (!handsOver) await actor.idle(withinMs);
  const giveUp = (): void =>
    actor.lost(new RequestError("unavailable", "The session could not be written before the server stopped."));
  const ms = LAST_WORDS_MS + (handsOver ? withinMs : 0);
  const cancel = clock.after(ms, giveUp, { keepsProcess: true });
  try {
    await Promise.race([handsOver ? actor.handOver(withinMs) : actor.stop("stopped"), actor.ended]);
  } catch (error) {
    actor.lost(error);
  }
  await actor.ended;
  cancel();
}
