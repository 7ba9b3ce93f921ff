import { RequestError } from "@tandem/protocol";
import { setTimeout as delay } from "node:timers/promises";
import type { JobRunner } from "../runs/job-runner.ts";
import type { ContextWork } from "../tools/job-tools.ts";

/** Maximum wait for the previous submission, which takes a moment. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 200;

/** Starts a job that proposes an agent's submission. Concurrent ones are serialised. */
export const rememberWork =
  (desk: Pick<JobRunner, "start">): NonNullable<ContextWork["remember"]> =>
  async (input) => {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await desk.start("remember", input);
      } catch (error) {
        if (!(error instanceof RequestError) || error.code !== "conflict" || Date.now() > until) throw error;
      }
      await delay(AGAIN_MS);
    }
  };
