import { type ModelRequest, type Reply, startRehearsal, text, when } from "@tandem/rehearsal";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isExtraction, isTriage } from "./extract/testing/answers.ts";
import { isCurator, isReconciler, isUnit } from "./testing/agents.ts";
import { openTestIngest } from "./testing/open-test-ingest.ts";
import { REFUND_REQUESTS, REFUNDS, refundsScript } from "./testing/refunds-script.ts";

const CHILD = fileURLToPath(new URL("./testing/ingest-child.ts", import.meta.url));

function start(root: string, url: string, ...more: string[]) {
  const child = spawn(process.execPath, [CHILD, root, url, ...more], {
    env: { PATH: process.env["PATH"], HOME: root, TMPDIR: tmpdir(), NO_PROXY: "127.0.0.1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  return { child, ended: once(child, "close").then(() => ({ out, errors })) };
}

type Where = (request: ModelRequest) => boolean;
const secondTurn: Where = (request) => isUnit(request) && request.messages.some(({ role }) => role === "assistant");

/** How many requests are sent twice: those of the one step that was under way. */
test.each<[string, Where | undefined, number]>([
  ["triage", isTriage, 1],
  ["light extraction", isExtraction, 1],
  ["a work unit", isUnit, 1],
  ["the middle of a work unit", secondTurn, 2],
  ["curation", isCurator, 1],
  ["reconciliation", isReconciler, 1],
  ["the moment after the proposal was stored", undefined, 0],
])(
  "killed in %s, the next run goes on: nothing is repeated, nothing lost",
  { timeout: 180_000 },
  async (_, where, twice) => {
    const root = await mkdtemp(join(tmpdir(), "tandem-killed-"));
    let running: ChildProcess | undefined;
    const kill = (): Reply => {
      running!.kill("SIGKILL");
      return text("Nobody hears this.");
    };
    await using rehearsal = await startRehearsal([...(where ? [when(where, kill)] : []), ...refundsScript()]);
    try {
      await (await openTestIngest(REFUNDS, { root }))[Symbol.asyncDispose]();
      const first = start(root, rehearsal.url, ...(where ? [] : ["--stop-at-proposal"]));
      running = first.child;
      if (!where) first.child.stdout.on("data", (chunk: string) => chunk.includes("proposed") && kill());
      const killed = await first.ended;
      expect(first.child.signalCode, `${killed.out}${killed.errors}`).toBe("SIGKILL");

      const second = await start(root, rehearsal.url).ended;
      const { state, result } = JSON.parse(second.out || JSON.stringify({ state: second.errors }));
      expect(state).toBe("done");
      expect(result.proposals).toMatchObject([{ open: 1, decisions: 1 }]);
      expect(rehearsal.modelRequests).toHaveLength(REFUND_REQUESTS + twice);

      const third = await start(root, rehearsal.url).ended;
      expect(JSON.parse(third.out)).toMatchObject({
        state: "done",
        result: { sources: [{ unchanged: 3 }], proposals: [] },
      });
      expect(rehearsal.modelRequests).toHaveLength(REFUND_REQUESTS + twice);

      await using context = await openTestIngest({}, { root });
      const proposals = await context.proposals.list({ limit: 10 });
      expect(proposals).toHaveLength(1);
      const [change] = (await context.proposals.get(proposals[0]!.id))!.changes;
      expect(change!.after).toContain("The FAQ says 14 days.");
    } finally {
      running?.kill("SIGKILL");
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
