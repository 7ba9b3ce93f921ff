import { RequestError } from "@tandem/protocol";
import { setTimeout as delay } from "node:timers/promises";
import type { JobDesk } from "../runs/job-desk.ts";
import type { ContextWork } from "../tools/job-tools.ts";

/** One is compared with what is known in a moment; whoever comes meanwhile waits so long. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 200;

/** Begins a job that proposes what an agent has handed in. Of several at once each has its turn. */
export const rememberWork =
  (desk: Pick<JobDesk, "start">): NonNullable<ContextWork["remember"]> =>
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
