import type { CrashTestReport } from "@tandem/crash-test";
import type { ProcessSightings, SessionsOfConversations } from "./process-sightings.ts";

type FoundViolation = CrashTestReport["violations"][number];

/** Sessions with two processes at the same time, running or suspended. A watch that has missed processes proves nothing, and fails, too. */
export function watchViolations(sightings: ProcessSightings, sessions: SessionsOfConversations): FoundViolation[] {
  const twins = [...sightings.twins(sessions)].map(([session, where]) =>
    violation(`${session} had two processes at the same time: ${where}.`),
  );
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
