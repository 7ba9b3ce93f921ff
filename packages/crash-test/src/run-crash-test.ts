import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemError } from "@tandem/protocol";
import { skipReason } from "./faults/fault-injector.ts";
import { FAULT_KINDS, SPARING_FAULTS } from "./faults/fault-kinds.ts";
import { FaultPlan } from "./faults/fault-plan.ts";
import { ORDER_KINDS, type History, type ModelReply, type OrderKind } from "./operation-history.ts";
import { checkHistory } from "./invariants/check-history.ts";
import { approvalKept } from "./invariants/approval-kept.ts";
import { callStartedOnce } from "./invariants/call-started-once.ts";
import type { Violation } from "./invariants/invariant.ts";
import { EffectSink } from "./observer/effect-sink.ts";
import { hasProcessTable } from "./observer/process-table.ts";
import { ProcessWatch } from "./observer/process-watch.ts";
import type { CrashTestReport, FoundViolation } from "./report/crash-test-report.ts";
import { finalLog, sessionsOf } from "./observed-log.ts";
import { clientOf, runRound, type RoundSettings } from "./run-round.ts";
import { SeededRandom } from "./seeded-random.ts";
import { ClockStep } from "./system/clock-step.ts";
import type { CrashTestStage } from "./system/crash-test-stage.ts";
import { SmallDisk } from "./system/small-disk.ts";
import { TestedSystem, type SystemPlan } from "./system/tested-system.ts";
import { WriteKill } from "./system/write-kill.ts";
import { prepare } from "./workload/prepare.ts";
import { ScriptedModel } from "./workload/scripted-model.ts";

export interface CrashTestOptions {
  name: string;
  createSystem: (stage: CrashTestStage) => Promise<SystemPlan>;
  faults: number;
  seed: number;
  /** Kinds of faults; all by default. */
  only?: readonly string[];
  work?: readonly OrderKind[];
  /** At one time. */
  sessions?: number;
  /** Faults of processes at one time: with more than one, several processes may be away together. */
  faultsAtOnce?: number;
  /** A session that is not idle after this time is stuck. Default: measured. */
  patienceMs?: number;
  /** The longest duration of an extra fault. A session may wait for its end. */
  longestFaultMs?: number;
  modelPort?: number;
  /** The address of this machine for the tested system, if that runs on others. Loopback by default. */
  address?: string;
  signal: AbortSignal;
  onProgress?: (progress: { done: number; total: number; violations: number; last: string }) => void;
}

const FAULTS_PER_ROUND = 30;
const SESSIONS = 3;
const LEAST_PATIENCE_MS = 45_000;
const MOST_PATIENCE_MS = 300_000;
/** Patience in turns of this machine without a fault. */
const PATIENT_TURNS = 25;
const CALM_PATIENCE_MS = 120_000;
const LEFT_MS = 10_000;
/** A fault can miss its occasion. After so many rounds without any, the server no longer works. */
const MOST_EMPTY_ROUNDS = 3;
/** More teach nothing new. */
const MOST_VIOLATIONS = 40;

/** Tests one system. Everything that it starts has ended when it returns or rejects. */
export async function runCrashTest(options: CrashTestOptions): Promise<CrashTestReport> {
  const { name, createSystem, faults, seed, signal, onProgress } = options;
  const startedAt = Date.now();
  await using parts = new AsyncDisposableStack();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tandem-crash-test-")));
  parts.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const state = join(folder, "state");
  const disk = await SmallDisk.mount(state);
  if (typeof disk !== "string") parts.use(disk);
  await mkdir(join(folder, "clock"));
  const clock = await ClockStep.create(join(folder, "clock"));
  const writes = await WriteKill.create(join(folder, "clock"), clock.variables);
  const sink = parts.use(await EffectSink.start(join(folder, "effects"), options.address));
  const model = parts.use(await ScriptedModel.start((id) => sink.commandOf(id), options.modelPort));
  const modelUrl = model.url.replace("127.0.0.1", options.address ?? "127.0.0.1");
  const mark = join(folder, "programs");
  const plan = await createSystem({ folder, state, disk, clock, writes, effects: sink, modelUrl, mark });
  const system = new TestedSystem(plan, signal);
  const roots = () => system.processes.flatMap(({ pid }) => pid ?? []);
  const watch = parts.use(new ProcessWatch(mark, roots, { pattern: plan.childPattern, ms: plan.longestOrphanMs }));
  parts.defer(() => watch.endAll());
  parts.use(system);
  await system.start();

  const work = atLeastOne(options.work ?? ORDER_KINDS);
  const random = new SeededRandom(seed);
  const prepared = await prepare(clientOf(system, signal), plan);
  const { sessions = SESSIONS, faultsAtOnce = 1 } = options;
  const base = { system, sink, model, prepared, random, work, signal, sessions, faultsAtOnce };
  const calmPatienceMs = options.patienceMs ?? CALM_PATIENCE_MS;
  const calm = await runRound({ ...base, round: 0, faults: [], patienceMs: calmPatienceMs, onFault: () => undefined });
  signal.throwIfAborted();
  if (model.replies.length === 0) {
    throw new TandemError("crash_test_model", `The server sent no request to the scripted model at ${model.url}.`, {
      fix: "Start it with ANTHROPIC_BASE_URL set to this address. For a server at --url, fix the port with --model-port.",
    });
  }
  const turns = calm.settled.filter(({ isSettled }) => isSettled).map(({ waitedMs }) => waitedMs);
  const patienceMs = options.patienceMs ?? patienceAfter(Math.max(...turns, 0)) + (options.longestFaultMs ?? 0);

  const hasApprovals = work.includes("approval");
  const wanted = options.only ?? [...FAULT_KINDS, ...(plan.extraFaults ?? []).map(({ kind }) => kind)];
  const skipped = wanted.flatMap((kind) => {
    const reason = skipReason(kind, system, hasApprovals);
    return reason === undefined ? [] : [{ kind, reason }];
  });
  const kinds = wanted.filter((kind) => !skipped.some((one) => one.kind === kind));
  if (kinds.length === 0) {
    throw new TandemError("usage", "No fault can be injected.", {
      fix: skipped.map((one) => `${one.kind}: ${one.reason}.`).join(" "),
    });
  }
  const violations: FoundViolation[] = [];
  const histories: History[] = [];
  const add = (history: History, found: readonly Violation[], round: number): void => {
    histories.push(withoutEarlierReads(history));
    violations.push(...found.map((one) => ({ ...one, round, ...logOf(history, one) })));
  };
  add(calm, checkHistory(calm), 0);
  const progress = { done: 0 };
  let emptyRounds = 0;
  const extraSparing = (plan.extraFaults ?? []).filter(({ sparesTurns }) => sparesTurns).map(({ kind }) => kind);
  const faultPlan = new FaultPlan(kinds, [...SPARING_FAULTS, ...extraSparing], random.fork());
  for (let round = 1; progress.done < faults && violations.length < MOST_VIOLATIONS && !signal.aborted; round += 1) {
    const planned = faultPlan.take(round, Math.min(FAULTS_PER_ROUND, faults - progress.done));
    const before = progress.done;
    const settings: RoundSettings = {
      ...base,
      round,
      faults: planned,
      patienceMs,
      onFault: (kind) => {
        progress.done += 1;
        onProgress?.({ done: progress.done, total: faults, violations: violations.length, last: kind });
      },
    };
    const history = await runRound(settings);
    if (signal.aborted) break;
    add(history, checkHistory(history), round);
    emptyRounds = progress.done === before ? emptyRounds + 1 : 0;
    if (emptyRounds === MOST_EMPTY_ROUNDS) break;
  }
  signal.throwIfAborted();
  await system.stop();
  const left = hasProcessTable ? await watch.leftAfter(Math.min(LEFT_MS, patienceMs)) : [];
  for (const { pid, command } of left) {
    const message = `Process ${pid} is left after the server has stopped: ${command.slice(0, 200)}`;
    violations.push({ invariant: "no-process-left", message, round: -1 });
  }
  for (const { pid, command } of watch.orphans) {
    const message = `Process ${pid} was still there ${plan.longestOrphanMs} ms after its server: ${command.slice(0, 200)}`;
    violations.push({ invariant: "no-process-left", message, round: -1 });
  }
  violations.push(...(await lateEffects(histories, sink, violations)));
  const acknowledgements = histories.flatMap((history) => history.acknowledgements);
  const created = histories.flatMap((history) => history.created).filter(({ type }) => type === "session");
  const inspected =
    (await plan.inspect?.(
      created.map(({ id }) => id),
      acknowledgements,
    )) ?? [];
  violations.push(...inspected.map((violation) => ({ ...violation, round: -1 })));
  const injected = histories.flatMap((history) => history.faults);
  return {
    name,
    seed,
    seconds: Math.round((Date.now() - startedAt) / 1_000),
    startedAt: new Date(startedAt).toISOString(),
    faults: injected.map(({ kind, state: hit, from: at }) => ({ kind, state: hit, at })),
    skipped: [
      ...skipped,
      ...(hasProcessTable ? [] : [{ kind: "no-process-left", reason: "this platform has no /proc" }]),
    ],
    violations,
    patienceMs,
    descriptions: Object.fromEntries((plan.extraFaults ?? []).map(({ kind, description }) => [kind, description])),
    conversations: sessionsOfConversations(histories, model.replies),
    eventTypes: countTypes(histories),
    counts: {
      sessions: created.length,
      messages: histories.flatMap(({ orders }) => orders).length,
      acknowledgements: histories.flatMap(({ acknowledgements }) => acknowledgements).length,
      calls: new Set((await sink.effects()).map(({ id }) => id)).size,
      answers: histories.flatMap(({ answers }) => answers).length,
      events: histories.flatMap(({ reads }) => reads.flatMap(({ events }) => events)).length,
      modelRequests: model.replies.length,
      streams: histories.flatMap(({ streams }) => streams).reduce((sum, { connections }) => sum + connections, 0),
    },
  };
}

/** A session is stuck after many times the duration of a turn without faults, which shows the speed of the machine. */
const patienceAfter = (turnMs: number): number =>
  Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, PATIENT_TURNS * turnMs));

function sessionsOfConversations(
  histories: readonly History[],
  replies: readonly ModelReply[],
): Record<string, string> {
  const orders = histories.flatMap((history) => history.orders);
  const sessions = new Map(orders.map(({ key, session }) => [key, session]));
  const found = replies.flatMap(({ conversation, order }) => {
    const session = sessions.get(order);
    return conversation === undefined || session === undefined ? [] : [[conversation, session] as const];
  });
  return Object.fromEntries(found);
}

function countTypes(histories: readonly History[]): Record<string, number> {
  const events = histories.flatMap((history) => sessionsOf(history).flatMap((session) => finalLog(history, session)));
  return Object.fromEntries([...Map.groupBy(events, ({ type }) => type)].map(([type, of]) => [type, of.length]));
}

const withoutEarlierReads = (history: History): History => ({
  ...history,
  reads: history.reads.filter(
    (read, index) => history.reads.findLastIndex(({ session }) => session === read.session) === index,
  ),
});

const SHOWN_EVENTS = 60;

function logOf(history: History, { session }: Violation): { log?: string[] } {
  const last = session === undefined ? undefined : history.reads.findLast((read) => read.session === session);
  return last ? { log: last.events.slice(-SHOWN_EVENTS).map(({ json }) => json.slice(0, 400)) } : {};
}

/** Effects of commands that outlived their round. */
async function lateEffects(
  histories: readonly History[],
  sink: EffectSink,
  known: readonly FoundViolation[],
): Promise<FoundViolation[]> {
  const effects = await sink.effects();
  return histories.flatMap((history, round) => {
    const late = { ...history, effects: effects.filter(({ id }) => id.startsWith(`ord-${round}-`)) };
    return [callStartedOnce, approvalKept].flatMap((invariant) =>
      invariant
        .check(late)
        .filter(({ message }) => !known.some((one) => one.message === message))
        .map((finding) => ({ invariant: invariant.name, ...finding, round })),
    );
  });
}

function atLeastOne(work: readonly OrderKind[]): [OrderKind, ...OrderKind[]] {
  const [first = "talk", ...rest] = work;
  return [first, ...rest];
}
