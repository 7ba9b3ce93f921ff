import { configSchema, RequestError } from "@tandem/protocol";
import { createBackend, createRuntime } from "@tandem/runtime";
import type { JobRow } from "@tandem/storage";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { runOneJob } from "../../testing/run-one-job.ts";
import type { RunEvent } from "../../runs/job-run.ts";
import { ingest } from "../ingest.ts";
import { openTestIngest } from "./open-test-ingest.ts";

/**
 * Runs an ingest job in `root`, or resumes the interrupted one, with the model at `url`. `stop` is `--stop-at-proposal`,
 * or `--die-at=<event>`, which kills this process. An event is named by stage, type and count:
 * `evidence/stage_progress/2`.
 */
export async function runTestIngest(
  root: string,
  url: string,
  stop?: string,
): Promise<Pick<JobRow, "state" | "result">> {
  const config = configSchema.parse({ llm: { provider: { backend: "anthropic", anthropic: { baseUrl: url } } } });
  await using context = await openTestIngest({}, { root });
  const { store, folder, space } = context;
  const proposals: typeof context.proposals = {
    ...context.proposals,
    propose: async (input) => {
      const proposal = await context.proposals.propose(input);
      if (stop !== "--stop-at-proposal") return proposal;
      process.stdout.write("proposed\n");
      return new Promise(() => {});
    },
  };
  const dieAt = (event: RunEvent): void => {
    if (!("stage" in event)) return;
    const done = event.type === "stage_progress" ? [event.done] : [];
    if (stop === `--die-at=${[event.stage, event.type, ...done].join("/")}`) process.kill(process.pid, "SIGKILL");
  };
  const hostVariables = { PATH: process.env["PATH"], HOME: root };
  const open = async (sink: Parameters<typeof createRuntime>[0]["sink"]) =>
    createRuntime({
      config: config.llm,
      backend: await createBackend(config.llm, {
        readSecret: async () => "made-up",
        stateFolder: join(root, "state"),
        hostVariables,
      }),
      sink,
    });
  // A killed process holds the job until its lease expires.
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      const row = await runOneJob({
        store,
        space: folder.id,
        kind: "ingest",
        params: {},
        holder: "test",
        leaseMs: 3_000,
        llm: { backend: "anthropic", open },
        modelOf: () => "model-1",
        body: (run) => {
          const emit = (event: RunEvent) => {
            dieAt(event);
            run.emit(event);
          };
          return ingest(
            { ...run, emit },
            {
              context: { folder, proposals },
              store: space,
              config: config.ingest,
              sources: [context.source()],
            },
          );
        },
      });
      return { state: row.state, result: row.result };
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "conflict" || Date.now() > deadline) throw error;
      await setTimeout(200);
    }
  }
}
