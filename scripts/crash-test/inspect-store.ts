import type { CrashTestReport } from "@tandem/crash-test";
import { openStore } from "@tandem/storage";
import { judgeSession } from "../../packages/sessions/src/testing/judge-session.ts";

type Violation = Omit<CrashTestReport["violations"][number], "round">;

/** Compares the rows, queues and logs of the sessions in the database with each other and with the acknowledged events. */
export async function inspectStore(
  location: string,
  sessions: readonly string[],
  acknowledgements: readonly { session: string; event: string }[],
): Promise<Violation[]> {
  await using store = await openStore(location);
  const violations: Violation[] = [];
  for (const session of sessions) {
    const acknowledged = acknowledgements.flatMap((one) => (one.session === session ? [one.event] : []));
    const problems = await judgeSession({ store }, { id: session }, acknowledged);
    violations.push(...problems.map((message) => ({ invariant: "store-agrees", session, message })));
  }
  return violations;
}
