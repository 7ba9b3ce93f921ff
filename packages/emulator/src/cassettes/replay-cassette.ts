import {
  findDivergence,
  markPaths,
  readableLines,
  stepsOf,
  TandemError,
  type Cassette,
  type CassetteStep,
  type Divergence,
  type ReplayMode,
  type ShownDivergence,
} from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import { diffFolderBundles, diffHunks } from "@tandem/workspace";
import { isRequest } from "./recorded-own-steps.ts";
import { ReplayDriver } from "./replay-driver.ts";
import { openReplayStage, type ReplayStage } from "./replay-stage.ts";
import { whyNotReplayed } from "./why-not-replayed.ts";

export interface ReplayOptions {
  /** Default: `recorded`. */
  mode?: ReplayMode;
  /** A run in which nothing happens for this time has diverged. */
  stallMs?: number;
  /** Run on after a step that differs, as far as the recorded answers fit. The first difference is still reported. */
  pastDivergence?: boolean;
  /** The model's answers after the last recorded one. */
  script?: Script;
  signal?: AbortSignal;
}

export interface Replay {
  mode: ReplayMode;
  /** The number of steps of the recorded run. */
  steps: number;
  /** Undefined if the run was identical. */
  divergence: ShownDivergence | undefined;
  /** The new run. Null if the file contradicts itself, so that there was none. */
  run: Cassette | null;
}

const STALL_MS: Readonly<Record<ReplayMode, number>> = { recorded: 30_000, real_tools: 120_000 };
const CONTEXT_LINES = 3;

/**
 * Runs a recorded session again on an engine of its own, and compares the run with the recorded one step by step. Throws a
 * `TandemError` (`cassette_not_replayable`) that names the parts of the session that cannot be repeated.
 */
export async function replayCassette(recorded: Cassette, options: ReplayOptions = {}): Promise<Replay> {
  const { mode = "recorded", stallMs = STALL_MS[mode], pastDivergence = false, script, signal } = options;
  refuse(recorded, mode);
  const { steps } = recorded;
  const end = (run: Cassette | null, divergence: Divergence | undefined, from: ShownDivergence["from"]): Replay => ({
    mode,
    steps: steps.length,
    divergence: divergence && { ...divergence, diff: diffOf(divergence), from },
    run,
  });
  const edited =
    recorded.events.length === 0 ? undefined : findDivergence(steps, stepsOf(recorded.events), { mode: "same_run" });
  if (edited) return end(null, edited, "events");
  await using stage = await openReplayStage(recorded, mode, script);
  const driver = new ReplayDriver(stage, recorded, { mode, stallMs, pastDivergence, signal });
  const stopped = await driver.drive();
  signal?.throwIfAborted();
  const produced = await stage.engine.history.cassette(stage.session.id);
  // The stage saves the recorded rules after it creates the session, so that they do not count as those it began with.
  const agent = { ...produced.header.agent, mcp_servers: recorded.header.agent.mcp_servers };
  const run = { ...produced, header: { ...produced.header, agent, rules: recorded.header.rules } };
  const seen = mode === "recorded" ? { ...run, steps: withSentResults(run.steps, stage) } : run;
  const divergence = findDivergence(steps, seen.steps, { mode });
  return end(
    run,
    firstOf(steps, stopped, divergence) ?? (mode === "real_tools" ? await compareFolders(recorded, run) : undefined),
    "replay",
  );
}

function refuse(recorded: Cassette, mode: ReplayMode): void {
  const reasons = whyNotReplayed(recorded, mode);
  if (reasons.length === 0) return;
  throw new TandemError("cassette_not_replayable", `A replay cannot repeat: ${reasons.join("; ")}.`, {
    fix:
      mode === "real_tools" ? "Replay it without --real-tools." : "Read the file; its steps and events are complete.",
  });
}

/** A difference that stops the run cuts off its other threads, whose unfinished steps are no differences. */
function firstOf(
  steps: readonly CassetteStep[],
  stopped: Divergence | undefined,
  found: Divergence | undefined,
): Divergence | undefined {
  if (!stopped || !found) return stopped ?? found;
  const [cause, later] = [stopped, found].map(({ step }) => steps[step - 1]?.thread);
  return cause === later && found.step < stopped.step ? found : stopped;
}

/** Puts the results that the model really got into the steps, so that they are compared with the recorded ones. */
function withSentResults(steps: readonly CassetteStep[], { run, paths }: ReplayStage): CassetteStep[] {
  const custom = new Set(steps.flatMap((step) => (step.kind === "call" && step.custom ? [step.id] : [])));
  const seen = new Map<string | undefined, number>();
  return steps.map((step) => {
    if (!isRequest(step)) return step;
    const request = seen.get(step.thread) ?? 0;
    seen.set(step.thread, request + 1);
    const results = run.requestsOf(step.thread)[request];
    const added = step.added.map((entry) => {
      const got = entry.type === "tool_result" && !custom.has(entry.call) ? results?.get(entry.call) : undefined;
      if (entry.type !== "tool_result" || !got) return entry;
      const text = markPaths(got.text, paths);
      if (textOf(entry.content) === text) return entry;
      return { ...entry, content: [{ type: "text", text }], is_error: got.isError };
    });
    return { ...step, added };
  });
}

const textOf = (content: readonly Record<string, unknown>[]): string =>
  content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n\n");

/** The folder after the run, after all steps. */
async function compareFolders({ steps, folder }: Cassette, run: Cassette): Promise<Divergence | undefined> {
  if (folder.type === "left_out" || (run.folder.type === "bundle" && run.folder.after.tree === folder.after.tree)) {
    return undefined;
  }
  const step = steps.length + 1;
  const actual = run.folder;
  if (actual.type === "left_out")
    return { step, kind: "folder", expected: { after: folder.after }, actual: { ...actual } };
  const [wanted, found] = [folder, actual].map(({ bundle }) => Buffer.from(bundle, "base64"));
  const patch = await diffFolderBundles(wanted!, found!);
  return { step, kind: "folder", expected: { after: folder.after }, actual: { after: actual.after, patch } };
}

function diffOf({ kind, expected, actual }: Divergence): string[] {
  const patch = actual?.["patch"];
  if (kind === "folder" && typeof patch === "string") return patch.trimEnd().split("\n");
  const [before, after] = [readableLines(expected), readableLines(actual)];
  return diffHunks(before, after, CONTEXT_LINES).flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => [
    `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`,
    ...lines,
  ]);
}
