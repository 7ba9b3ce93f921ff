import { acpAnywhere } from "./checks/acp-anywhere.ts";
import { anyServer } from "./checks/any-server.ts";
import { CheckModel } from "./checks/check-model.ts";
import { contextAnywhere } from "./checks/context-anywhere.ts";
import { doneOnce } from "./checks/done-once.ts";
import type { CheckContext, LabCheck } from "./checks/lab-check.ts";
import { repeatedDeaths } from "./checks/repeated-deaths.ts";
import { scaling } from "./checks/scaling.ts";
import { stickyMcp } from "./checks/sticky-mcp.ts";
import { takeovers } from "./checks/takeovers.ts";
import { workerPlaces } from "./checks/worker-places.ts";
import { LabLinks } from "./faults/lab-links.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { openStage } from "./open-stage.ts";

export interface CheckResult {
  name: string;
  seconds: number;
  /** Undefined if the promise holds. */
  failure?: string;
}

/** Checks that need the same lab. */
const GROUPS: readonly { context: NonNullable<LabSettings["context"]>; checks: readonly LabCheck[] }[] = [
  {
    context: "volume",
    checks: [
      ...anyServer,
      ...acpAnywhere,
      ...contextAnywhere,
      ...workerPlaces,
      ...takeovers,
      ...repeatedDeaths,
      ...scaling,
      ...doneOnce,
    ],
  },
  { context: "servers", checks: stickyMcp },
];

/** Runs the checks that match, one after another. */
export async function runChecks(
  network: LabNetwork,
  settings: LabSettings,
  { signal, pattern }: { signal: AbortSignal; pattern: RegExp },
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { context, checks } of GROUPS) {
    const chosen = checks.filter(({ name }) => pattern.test(name));
    if (chosen.length === 0) continue;
    const model = new CheckModel();
    const own = { ...settings, context };
    await using stage = await openStage(network, own, { script: model.answer, signal });
    const links = new LabLinks(network);
    results.push(...(await runGroup(chosen, { stage, network, model, links, settings: own }, signal)));
  }
  return results;
}

async function runGroup(
  checks: readonly LabCheck[],
  context: CheckContext,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
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
