import { anyServer } from "./checks/any-server.ts";
import { CheckModel } from "./checks/check-model.ts";
import { contextAnywhere } from "./checks/context-anywhere.ts";
import { doneOnce } from "./checks/done-once.ts";
import type { LabCheck } from "./checks/lab-check.ts";
import { scaling } from "./checks/scaling.ts";
import { workerPlaces } from "./checks/worker-places.ts";
import { LabLinks } from "./lab-links.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { openStage } from "./open-stage.ts";

export interface CheckResult {
  name: string;
  seconds: number;
  /** Undefined if the promise holds. */
  failure?: string;
}

const CHECKS: readonly LabCheck[] = [...anyServer, ...contextAnywhere, ...workerPlaces, ...scaling, ...doneOnce];

/** Runs the checks that match, one after another, in one lab. */
export async function runChecks(
  network: LabNetwork,
  settings: LabSettings,
  { signal, pattern }: { signal: AbortSignal; pattern: RegExp },
): Promise<CheckResult[]> {
  const model = new CheckModel();
  const withContext = { ...settings, hasContext: true };
  await using stage = await openStage(network, withContext, { script: model.answer, signal });
  const context = { stage, network, model, links: new LabLinks(network) };
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${describe(error.cause)})`;
}
