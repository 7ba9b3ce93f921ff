import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Replay } from "@tandem/emulator";
import { TandemError, type Cassette } from "@tandem/protocol";
import type { CassetteCase } from "./cassette-case.ts";
import { checkFiles, checkSteps } from "./check-run.ts";
import type { FoundCase } from "./find-cases.ts";
import { readCassette } from "./read-cassette.ts";

/** The failure that an update repairs. */
export const DIFFERS = "The replay differs from the cassette.";

export interface CaseOutcome {
  case: FoundCase;
  /** A sentence per failed assertion; empty if the case passed. */
  failures: string[];
  divergence: Replay["divergence"];
  /** The number of recorded steps. */
  steps: number;
  /** The result of a divergent replay; `--update` writes it. */
  produced: Cassette | undefined;
  durationMs: number;
}

interface CaseHost {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** Replays the cassette of a case and checks its assertions. Errors of a case are its failures. */
export async function runCase(found: FoundCase, host: CaseHost): Promise<CaseOutcome> {
  const started = performance.now();
  const outcome = await replayAndCheck(found, host).catch((error: unknown) => {
    host.signal.throwIfAborted();
    if (!(error instanceof TandemError)) throw error;
    return { failures: [error.message], divergence: undefined, steps: 0, produced: undefined };
  });
  return { case: found, ...outcome, durationMs: Math.round(performance.now() - started) };
}

async function replayAndCheck({ cassette, test }: FoundCase, host: CaseHost) {
  const recorded = await readCassette(cassette);
  const { replayCassette } = await import("@tandem/emulator");
  const mode = test.mode === "real-tools" ? "real_tools" : "recorded";
  const { signal } = host;
  const { divergence, run, steps } = await replayCassette(recorded, { mode, signal });
  const whole = divergence ? await continuedRun(recorded, { mode, signal }) : run;
  const failures = divergence && test.identical ? [DIFFERS] : [];
  // Recorded tools change no files: the folder is the recorded one.
  const produced = whole && mode === "recorded" ? { ...whole, folder: recorded.folder } : whole;
  const checked = produced ?? recorded;
  failures.push(...checkSteps(checked, test), ...(await checkFolder(checked, test, host)));
  return { failures, divergence, steps, produced: divergence ? (produced ?? undefined) : undefined };
}

/** The run up to its end, also after a step that differs. Events that contradict changed steps are not compared. */
async function continuedRun(
  recorded: Cassette,
  options: { mode: Replay["mode"]; signal: AbortSignal },
): Promise<Cassette | null> {
  const { replayCassette } = await import("@tandem/emulator");
  return (await replayCassette({ ...recorded, events: [] }, { ...options, pastDivergence: true })).run;
}

async function checkFolder(
  { folder }: Cassette,
  { files, program }: CassetteCase,
  { env, signal }: CaseHost,
): Promise<string[]> {
  if (files.length === 0 && !program) return [];
  if (folder.type === "left_out") return [`The cassette has no folder to check: ${folder.reason}`];
  const { restoreFolderBundle } = await import("@tandem/workspace");
  const root = await mkdtemp(join(tmpdir(), "tandem-case-"));
  try {
    const place = join(root, "project");
    await mkdir(place);
    await restoreFolderBundle(Buffer.from(folder.bundle, "base64"), "after", place);
    const failures = await checkFiles(place, files);
    if (program) failures.push(...(await checkProgram(program, { root, folder: place, env, signal })));
    return failures;
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

const OUTPUT_TAIL = 500;

async function checkProgram(
  { run, timeout }: NonNullable<CassetteCase["program"]>,
  { root, folder, env, signal }: CaseHost & { root: string; folder: string },
): Promise<string[]> {
  const { runShell } = await import("@tandem/sessions");
  const place = { folder, stateFolder: root, hostVariables: env, timeoutMs: timeout * 1_000, signal };
  const { exitCode, output } = await runShell(run, place);
  if (exitCode === 0) return [];
  return [`The program ${JSON.stringify(run)} exited with ${exitCode}: ${output.trim().slice(-OUTPUT_TAIL)}`];
}
