import type { CrashTestReport } from "@tandem/crash-test";
import type { ProcessSightings, SessionsOfConversations } from "./process-sightings.ts";

type FoundViolation = CrashTestReport["violations"][number];

/** A fault takes up to half a minute, and a lease ten seconds. */
const CAUSE_MS = 60_000;

/**
 * Sessions with two processes at the same time, running or suspended, and the faults before that. A watch that has missed processes
 * proves nothing, and fails, too.
 */
export function watchViolations(
  sightings: ProcessSightings,
  sessions: SessionsOfConversations,
  faults: CrashTestReport["faults"],
): FoundViolation[] {
  const twins = [...sightings.twins(sessions)].map(([session, { which, from }]) => {
    const before = faults
      .filter(({ at }) => at <= from && from - at < CAUSE_MS)
      .map(({ kind, at }) => `${kind} ${Math.round((from - at) / 1_000)} s before`);
    return violation(`${session} had two processes at the same time: ${[which, ...before].join(", ")}.`);
  });
  if (sightings.count(sessions).sessions === 0)
    return [...twins, violation("The watch saw no process of any session.")];
  const missing = sightings
    .missing(sessions)
    .map((conversation) =>
      violation(`The watch saw no process of ${sessions[conversation]}'s conversation ${conversation}.`),
    );
  return [...twins, ...missing];
}

const violation = (message: string): FoundViolation => ({ invariant: "one-process", message, round: -1 });
