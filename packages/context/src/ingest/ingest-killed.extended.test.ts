import { type ModelRequest, type Reply, type Rule, startRehearsal, text, when } from "@tandem/rehearsal";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { isExtraction, isTriage } from "./extract/testing/extract-answers.ts";
import { isCurator, isReconciler, isRepair, isUnit } from "./testing/agent-requests.ts";
import { openTestIngest, type TestIngest } from "./testing/open-test-ingest.ts";
import { runTestIngest } from "./testing/run-test-ingest.ts";
import {
  REFUND_REQUESTS,
  REFUNDS,
  refundsScript,
  REMOVAL,
  REMOVAL_REQUESTS,
  removalScript,
  REMOVED_PAGE,
} from "./testing/refunds-script.ts";

const CHILD = fileURLToPath(new URL("./testing/ingest-child.ts", import.meta.url));

function start(root: string, url: string, ...more: string[]) {
  const child = spawn(process.execPath, [CHILD, root, url, ...more], {
    env: {
      PATH: process.env["PATH"],
      HOME: root,
      TMPDIR: tmpdir(),
      NO_PROXY: "127.0.0.1",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  return { child, ended: once(child, "close").then(() => ({ out, errors })) };
}

type Where = (request: ModelRequest) => boolean;
const secondTurn =
  (which: Where): Where =>
  (request) =>
    which(request) && request.messages.some(({ role }) => role === "assistant");

interface Work {
  documents: Record<string, string>;
  page?: string;
  script: () => Rule[];
  requests: number;
  proposal: object;
  /** Text of the proposed page. */
  says: string;
}
const refunds: Work = {
  documents: REFUNDS,
  script: refundsScript,
  requests: REFUND_REQUESTS,
  proposal: { open: 1, decisions: 1 },
  says: "The FAQ says 14 days.",
};
const removal: Work = {
  documents: REMOVAL,
  page: REMOVED_PAGE,
  script: removalScript,
  requests: REMOVAL_REQUESTS,
  proposal: { decisions: 0 },
  says: "Thirty days.",
};

/** Where it is killed (at a model request or an event), and how many requests of the interrupted step are repeated. */
type Killed = [name: string, work: Work, where: Where | string, twice: number];
const killed: Killed[] = [
  ["the cutting of documents", refunds, "--die-at=evidence/stage_progress/2", 0],
  ["the middle of a work unit", refunds, secondTurn(isUnit), 2],
  ["the moment after the proposal was stored", refunds, "--stop-at-proposal", 0],
];
const killedElsewhere: Killed[] = [
  ["repair", removal, isRepair, 1],
  ["the fetching of documents", refunds, "--die-at=fetch/stage_progress/2", 0],
  ["reconciliation", refunds, isReconciler, 1],
  ["the moment after they were cut", refunds, "--die-at=evidence/stage_finished", 0],
  ["triage", refunds, isTriage, 1],
  ["light extraction", refunds, isExtraction, 1],
  ["a work unit", refunds, isUnit, 1],
  ["curation", refunds, isCurator, 1],
  ["the beginning of the gates", refunds, "--die-at=gates/stage_started", 0],
  ["the end of the gates", refunds, "--die-at=gates/stage_finished", 0],
  ["the middle of a repair", removal, secondTurn(isRepair), 2],
  ["the moment after a repair", removal, "--die-at=gates/stage_finished", 0],
];

test.each(inject("soak") ? [...killed, ...killedElsewhere] : killed)(
  "killed in %s, the next run goes on: nothing is repeated, nothing lost",
  async (_, { documents, page, script, requests, proposal, says }, where, twice) => {
    const root = await mkdtemp(join(tmpdir(), "tandem-killed-"));
    let running: ChildProcess | undefined;
    const kill = (): Reply => {
      running!.kill("SIGKILL");
      return text("Nobody hears this.");
    };
    const isAsked = typeof where === "function";
    await using rehearsal = await startRehearsal([...(isAsked ? [when(where, kill)] : []), ...script()]);
    try {
      {
        await using context = await openTestIngest(documents, { root });
        if (page !== undefined) await context.writePage("old", page);
      }
      const first = start(root, rehearsal.url, ...(isAsked ? [] : [where]));
      running = first.child;
      if (where === "--stop-at-proposal") {
        first.child.stdout.on("data", (chunk: string) => chunk.includes("proposed") && kill());
      }
      const killed = await first.ended;
      expect(first.child.signalCode, `${killed.out}${killed.errors}`).toBe("SIGKILL");

      const second = await runTestIngest(root, rehearsal.url);
      expect(second).toMatchObject({ state: "done", result: { proposals: [proposal] } });
      expect(rehearsal.modelRequests).toHaveLength(requests + twice);

      const unchanged = Object.keys(documents).length;
      expect(await runTestIngest(root, rehearsal.url)).toMatchObject({
        state: "done",
        result: { sources: [{ unchanged }], proposals: [] },
      });
      expect(rehearsal.modelRequests).toHaveLength(requests + twice);

      await using context = await openTestIngest({}, { root });
      const proposals = await context.proposals.list({ limit: 10 });
      expect(proposals).toHaveLength(1);
      const [change] = (await context.proposals.get(proposals[0]!.id))!.changes;
      expect(change!.after).toContain(says);
      // Stored documents are not converted again.
      const isCut = where !== "--die-at=fetch/stage_progress/2" && where !== "--die-at=evidence/stage_progress/2";
      expect(await keptDocuments(context)).toBe(isCut ? unchanged : 0);
    } finally {
      running?.kill("SIGKILL");
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

/** Number of documents that the resumed run found stored. */
async function keptDocuments({ store }: TestIngest): Promise<number> {
  const { data } = await store.jobs.list({ limit: 10, order: "asc" });
  const events = await store.jobs.events(data[0]!.id, { after: 0, limit: 1_000 });
  const counts = events.flatMap(({ event }) =>
    event.type === "stage_finished" && event["stage"] === "evidence" ? [event["counts"] as { kept: number }] : [],
  );
  return counts.at(-1)!.kept;
}
