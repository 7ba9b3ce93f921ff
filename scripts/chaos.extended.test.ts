import { whyNoPostgres } from "@tandem/storage/testing";
import { expect, inject, test } from "vitest";
import { chaosPlan } from "./chaos/chaos-plan.ts";
import { runChaos } from "./chaos/chaos-run.ts";

/** `npm run bench chaos` has 200 sessions and 120 kills. */
const SESSIONS = inject("soak") ? 24 : 4;
const WORKERS = inject("soak") ? 4 : 2;
const KILLS = inject("soak") ? 30 : 3;

const why = process.platform === "linux" ? whyNoPostgres() : "processes are counted in /proc";

// Kills happen at random times; the history is printed on failure.
test.skipIf(why !== undefined)(
  `${SESSIONS} sessions on two servers and ${WORKERS} workers, one of them killed every second, and Postgres once: nothing is lost, doubled, stuck or left behind`,
  async () => {
    const plan = chaosPlan({ workers: WORKERS, sessions: SESSIONS, kills: KILLS, deadlineMs: 420_000 });
    const { problems, logs, ...figures } = await runChaos(plan);
    expect(problems, `${JSON.stringify(figures)}\n${problems.length > 0 ? logs.join("\n") : ""}`).toEqual([]);
    expect(figures.answered + figures.endedHonestly).toBe(SESSIONS);
    expect(figures.postgresRestarts).toBe(1);
    expect(Object.values(figures.kills).reduce((sum, kills) => sum + kills, 0)).toBe(KILLS);
  },
);
