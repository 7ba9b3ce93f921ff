import { setTimeout as sleep } from "node:timers/promises";
import { inParallel } from "@tandem/protocol";
import { FaultInjector } from "./faults/fault-injector.ts";
import { isNetworkFault, statesFor } from "./faults/fault-kinds.ts";
import { emptyHistory, type History, type OrderKind, type SessionState } from "./operation-history.ts";
import type { EffectSink } from "./observer/effect-sink.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { TestedSystem } from "./system/tested-system.ts";
import { ApiClient, isSuccess } from "./workload/api-client.ts";
import { prepare, type Prepared } from "./workload/prepare.ts";
import type { ScriptedModel } from "./workload/scripted-model.ts";
import { SessionDriver, type DriverSettings } from "./workload/session-driver.ts";
import { StreamFollower } from "./workload/stream-follower.ts";

export interface RoundSettings {
  system: TestedSystem;
  sink: EffectSink;
  model: ScriptedModel;
  prepared: Prepared;
  random: SeededRandom;
  round: number;
  /** The kinds of faults, in the order of their injection. None for a calm round. */
  faults: readonly string[];
  work: readonly [OrderKind, ...OrderKind[]];
  /** Sessions at one time. */
  sessions: number;
  /** Faults of processes at one time. */
  faultsAtOnce: number;
  patienceMs: number;
  signal: AbortSignal;
  onFault: (kind: string) => void;
}

const REQUEST_MS = 20_000;
/** Several orders make a log with a history; a new session tests creation. */
const ORDERS_PER_SESSION = 3;
const REST_MS = 250;
/** For each session: their clients together read as often, however many they are. */
const POLL_MS = 40;
/** With more, nothing new is learnt. */
const MOST_STUCK = 3;
const READS_AT_ONCE = 4;
/** A server that is away opens no stream. One that is only slow must, or nothing checks what its stream delivers. */
const OPEN_MS = 5_000;

export const clientOf = (system: TestedSystem, signal: AbortSignal): ApiClient =>
  new ApiClient({ url: () => system.url(), apiKey: system.plan.apiKey, timeoutMs: REQUEST_MS, signal });

/** Runs clients and faults at the same time, then waits until everything is at rest and reads all logs again. */
export async function runRound(settings: RoundSettings): Promise<History> {
  const { system, model, sink, random, faults, work, sessions, signal, patienceMs, onFault } = settings;
  const history = emptyHistory();
  const active = new Map<number, SessionDriver>();
  const drivers = (): SessionDriver[] => [...active.values()];
  const all: SessionDriver[] = [];
  const hasApprovals = work.includes("approval");
  const injector = new FaultInjector({ system, history, drivers, signal, patienceMs, hasApprovals });
  const client = clientOf(system, signal);
  const prepared = settings.round % 5 === 1 ? await prepare(client, system.plan) : settings.prepared;
  for (const id of new Set(Object.values(prepared.agents))) history.created.push({ type: "agent", id, isThere: true });
  const driverSettings: Omit<DriverSettings, "environment" | "isHeld"> = {
    ...settings,
    pollMs: POLL_MS * sessions,
    ...prepared,
    clients: [client, clientOf(system, signal)],
    history,
    takeDoubleAnswer: injector.takeDoubleAnswer,
  };
  const driverOf = (order: string): SessionDriver | undefined =>
    drivers().find(({ current }) => current?.key === order);
  model.onReply = ({ order }) => setState(driverOf(order), "model");
  sink.onEffect = (id) => setState(driverOf(id.slice(0, id.lastIndexOf("."))), "tool");
  const clients = { isDone: false };
  let number = 0;
  const isCalm = faults.length === 0;
  const opened = isCalm ? work : agentKinds(work);
  const drive = async (place: number): Promise<void> => {
    for (let index = place; !clients.isDone && !signal.aborted; index += isCalm ? sessions : 1) {
      const kind = opened[index % opened.length]!;
      number += 1;
      const resumes = number % 2 === 0;
      const environment = prepared.environments[number % prepared.environments.length] ?? prepared.environments[0];
      const driver = new SessionDriver(
        { ...driverSettings, environment, isHeld: () => place < system.heldClients },
        `${settings.round}-${number}`,
      );
      all.push(driver);
      active.set(place, driver);
      await driver.open(kind);
      if (driver.session === undefined) continue;
      await using stream = new StreamFollower(client, driver.session, history, { resumes });
      await stream.opened(OPEN_MS);
      const orders = isCalm ? 1 : ORDERS_PER_SESSION;
      for (let order = 0; order < orders && !clients.isDone && !driver.isStuck && !signal.aborted; order += 1) {
        await driver.run(isCalm ? kind : nextKind(kind, index + order));
        await sleep(random.between(0, REST_MS));
      }
      if (driver.lastEnd && !driver.isStuck) await stream.expect(driver.lastEnd, settings.patienceMs, signal);
      // A calm round does each kind of work once.
      if (isCalm && index + sessions >= work.length) return;
    }
  };
  /** The step that a fault waits for, unless another session already waits there; else each kind in turn. */
  const nextKind = (kind: OrderKind, turn: number): OrderKind => {
    const able = KINDS_OF_AGENT[kind].filter((one) => work.includes(one));
    const wanted = new Set(injector.wanted.flatMap((state) => KINDS_OF_STATE[state]));
    const isDone = (one: OrderKind): boolean => drivers().some(({ current }) => current?.kind === one);
    return able.find((one) => wanted.has(one) && !isDone(one)) ?? able[turn % able.length] ?? kind;
  };
  const driving = Promise.all(Array.from({ length: sessions }, (_, place) => drive(place)));
  const injectAll = async (kinds: readonly string[], own: SeededRandom): Promise<void> => {
    for (const kind of kinds) {
      if (signal.aborted || all.filter(({ isStuck }) => isStuck).length >= MOST_STUCK) break;
      if (await injector.inject(kind, pickState(kind, work, own), own)) onFault(kind);
    }
  };
  // Faults of the network, of clients and of processes happen at the same time, and those of one lane one after the other.
  const lanes = Map.groupBy(faults, (kind, index) =>
    isNetworkFault(kind) ? "network" : kind === "two-answers" ? kind : index % settings.faultsAtOnce,
  );
  await Promise.all([...lanes.values()].map((kinds) => injectAll(kinds, random.fork())));
  if (!isCalm) clients.isDone = true;
  await driving;
  if (!isCalm) await restartAll(system);
  await readAgain(all, history, client, settings);
  history.outages = system.takeOutages();
  const own = `ord-${settings.round}-`;
  history.replies = model.replies.filter(({ order }) => order.startsWith(own));
  history.effects = (await sink.effects()).filter(({ id }) => id.startsWith(own));
  return history;
}

/** The kinds of work that the agent of each kind can do. */
const KINDS_OF_AGENT: Readonly<Record<OrderKind, readonly OrderKind[]>> = {
  talk: ["tool", "talk", "interrupt"],
  tool: ["tool", "talk", "interrupt"],
  interrupt: ["tool", "talk", "interrupt"],
  approval: ["approval", "talk", "interrupt"],
  custom: ["custom", "tool", "talk", "interrupt"],
};
/** The kinds of work that bring a session into each state. */
const KINDS_OF_STATE: Readonly<Record<SessionState, readonly OrderKind[]>> = {
  idle: [],
  model: ["talk", "interrupt"],
  tool: ["tool"],
  approval: ["approval"],
  custom: ["custom"],
  resuming: [],
};

/** One kind for each agent, so that sessions of all agents are there at any time. */
function agentKinds(work: readonly [OrderKind, ...OrderKind[]]): readonly OrderKind[] {
  const isSpecial = (kind: OrderKind): boolean => kind === "approval" || kind === "custom";
  return [...work.filter(isSpecial), ...work.filter((kind) => !isSpecial(kind)).slice(0, 1)];
}

function setState(driver: SessionDriver | undefined, state: "model" | "tool"): void {
  if (driver) driver.state = state;
}

function pickState(kind: string, work: readonly OrderKind[], random: SeededRandom) {
  const possible = statesFor(kind).filter((state) =>
    state === "tool" || state === "approval" || state === "custom" ? work.includes(state) : true,
  );
  return random.pick([possible[0] ?? "idle", ...possible.slice(1)]);
}

/** A server that acknowledged something from its memory only has lost it now. */
async function restartAll(system: TestedSystem): Promise<void> {
  await Promise.all(system.processes.map((process) => process.kill()));
  for (const process of system.processes) process.launch();
  await Promise.all(system.processes.map((process) => system.ready(process)));
}

async function readAgain(
  drivers: readonly SessionDriver[],
  history: History,
  client: ApiClient,
  { patienceMs, signal }: RoundSettings,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  const persist = async (attempt: () => Promise<boolean>): Promise<void> => {
    while (!signal.aborted && !(await attempt()) && Date.now() < deadline) await sleep(100);
  };
  await inParallel(drivers, READS_AT_ONCE, async (driver) => {
    if (driver.session !== undefined) await persist(() => driver.read());
  });
  await inParallel(history.created, READS_AT_ONCE, (created) =>
    persist(async () => {
      const outcome = await client.request("GET", `/v1/${created.type}s/${created.id}`);
      if (outcome.type === "answered") created.isThere = isSuccess(outcome.status);
      return outcome.type === "answered";
    }),
  );
}
