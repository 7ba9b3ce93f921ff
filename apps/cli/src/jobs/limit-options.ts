import { TandemError } from "@tandem/protocol";
import type { Project } from "@tandem/tandem/config";
import type { Command } from "commander";
import { confirm } from "../input/confirm.ts";
import type { Invocation } from "../invocation.ts";
import { printable } from "../terminal.ts";
import { type ContextJob, type EndedJob, runContextJob } from "./run-context-job.ts";

export interface LimitOptions {
  maxUsd?: string;
  maxRequests?: string;
  yes?: boolean;
}

/** Adds the options that limit the cost of a job. */
export const withLimitOptions = (command: Command): Command =>
  command
    .option("--max-usd <amount>", "do not start, and stop, above this cost in US dollars (default: `context.budget`)")
    .option("--max-requests <number>", "do not start, and stop, above this number of model requests")
    .option("-y, --yes", "start even if the estimate is above the limit");

/** The job's parameters for these options. */
export function limitParams({ maxUsd, maxRequests, yes = false }: LimitOptions): Record<string, unknown> {
  return {
    ...(maxUsd !== undefined && { max_usd: positive("--max-usd", maxUsd) }),
    ...(maxRequests !== undefined && { max_requests: Math.ceil(positive("--max-requests", maxRequests)) }),
    ...(yes && { confirmed: true }),
  };
}

function positive(option: string, text: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, { fix: "Give a positive number." });
}

/** Runs a job. If its estimate is above the limit, asks on a terminal whether to start it anyway. */
export async function runLimitedJob(invocation: Invocation, project: Project, job: ContextJob): Promise<EndedJob> {
  const ended = await runContextJob(invocation, project, job);
  const { error } = ended.row;
  const { stdin, stderr, json } = invocation;
  if (error?.code !== "over_budget" || !stdin.isTTY || !stderr.isTTY || json) return ended;
  await confirm(invocation, `${printable(error.message)}\n`, "Start it anyway?");
  return await runContextJob(invocation, project, { ...job, params: { ...job.params, confirmed: true } });
}
