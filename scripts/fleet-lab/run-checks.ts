import { reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { anyServer } from "./checks/any-server.ts";
import { doneOnce } from "./checks/done-once.ts";
import type { LabCheck } from "./checks/lab-check.ts";
import { workerPlaces } from "./checks/worker-places.ts";
import { LabLinks } from "./lab-links.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-system.ts";
import { openStage } from "./open-stage.ts";

export interface CheckResult {
  name: string;
  seconds: number;
  /** Undefined if the promise holds. */
  failure?: string;
}

const CHECKS: readonly LabCheck[] = [...anyServer, ...workerPlaces, ...doneOnce];

/** Runs the checks that match, one after another, in one lab. */
export async function runChecks(
  network: LabNetwork,
  settings: LabSettings,
  { signal, pattern }: { signal: AbortSignal; pattern: RegExp },
): Promise<CheckResult[]> {
  await using stage = await openStage(network, settings, { script: answer, signal });
  const context = { stage, network, links: new LabLinks(network) };
  const results: CheckResult[] = [];
  for (const check of CHECKS.filter(({ name }) => pattern.test(name))) {
    if (signal.aborted) break;
    const { name } = check;
    const startedAt = Date.now();
    const failure = await check.run(context).then(() => undefined, describe);
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    results.push({ name, seconds, ...(failure !== undefined && { failure }) });
    console.error(`${failure === undefined ? "✓" : "✗"} ${name} (${seconds} s)${failure ? `: ${failure}` : ""}`);
  }
  return results;
}

/** Runs one tool if it is asked to, and talks otherwise. */
function answer(request: ModelRequest): Reply {
  const said = JSON.stringify(request.messages);
  const isDone = said.includes("tool_result") || !said.includes("Please run a tool.");
  const tool = request.toolNames.find((name) => /^bash$/i.test(name));
  if (isDone || tool === undefined) return text("One word follows another.");
  return reply([toolUse(tool, { command: "echo ran on $(hostname)" })]);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${describe(error.cause)})`;
}
