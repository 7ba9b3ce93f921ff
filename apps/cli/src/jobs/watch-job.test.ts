import type { RunEvent } from "@tandem/context";
import type { JobId } from "@tandem/protocol";
import type { JobEvent, JobStore } from "@tandem/storage";
import { expect, test } from "vitest";
import { storedJobLog } from "./job-log.ts";
import { watchJob } from "./watch-job.ts";

const started = (resumed: boolean): RunEvent => ({ type: "started", kind: "scan", resumed });
const finished = (stage: string): RunEvent => ({ type: "stage_finished", stage, counts: {} });
const skipped = (item: string): RunEvent => ({
  type: "skipped",
  stage: "profile",
  item,
  code: "gone",
  message: "It is.",
});

/** A log with stored events and events added while it is watched. */
function logOf(there: readonly RunEvent[], added: readonly RunEvent[]): Pick<JobStore, "events" | "follow"> {
  const numbered = [...there, ...added].map((event, index): JobEvent => ({ seq: index + 1, at: "", event }));
  return {
    events: async (_, { after, limit }) =>
      numbered
        .slice(0, there.length)
        .filter(({ seq }) => seq > after)
        .slice(0, limit),
    async *follow(_, after) {
      for (const event of numbered.filter(({ seq }) => seq > after)) yield [event];
    },
  };
}

test("shows each stage of a resumed job once and marks those finished before", async () => {
  const earlier = [started(false), finished("structure"), skipped("orders"), finished("profile")];
  const now = [finished("structure"), finished("profile"), skipped("people"), finished("relationships")];
  const shown: string[] = [];
  const show = (event: RunEvent, isKept: boolean) => {
    if (event.type === "stage_finished") shown.push(`${event.stage}${isKept ? " kept" : ""}`);
  };
  const watched = await watchJob(
    storedJobLog(logOf([...earlier, started(true), now[0]!], now.slice(1))),
    "job_1" as JobId,
    show,
    new AbortController().signal,
  );
  expect(shown).toEqual(["structure kept", "profile kept", "relationships"]);
  expect(watched.skipped.map(({ item }) => item)).toEqual(["people"]);
});
