import type { JobId } from "@tandem/protocol";
import type { JobRow } from "@tandem/storage";
import { z } from "zod";
import type { Run } from "../runs/job-run.ts";
import { JobRunner } from "../runs/job-runner.ts";
import type { JobWorkerOptions } from "../runs/job-worker.ts";

export interface OneJob
  extends Omit<JobWorkerOptions, "kinds" | "models" | "log">, Pick<JobWorkerOptions["models"], "llm" | "modelOf"> {
  kind: string;
  params: unknown;
  body: (run: Run) => Promise<unknown>;
  signal?: AbortSignal | undefined;
  onStart?: ((job: JobId) => void) | undefined;
}

/** Runs one job like a command: in a process of its own, as far as the store can tell. */
export async function runOneJob({
  kind,
  params,
  body,
  signal,
  onStart,
  llm,
  modelOf,
  ...rest
}: OneJob): Promise<JobRow> {
  await using runner = new JobRunner({
    ...rest,
    kinds: { [kind]: { params: z.unknown(), work: body } },
    models: { llm, modelOf },
    log: { warn: () => undefined },
  });
  return await runner.run(kind, params, { signal, onStart: onStart ?? (() => undefined) });
}
