import { setTimeout as sleep } from "node:timers/promises";
import { slowly, text, type ModelRequest } from "@tandem/rehearsal";
import { FleetClients } from "../../bench/fleet/fleet-clients.ts";
import { costsBetween, costsSoFar, countStatements } from "../../bench/fleet/postgres-costs.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabSettings } from "./lab-settings.ts";
import { SERVERS, WORKERS } from "./lab-machines.ts";
import { measureTakeovers, type TakeoverFigures } from "./measure-takeovers.ts";
import { openStage } from "./open-stage.ts";

interface TurnFigures {
  workers: number;
  sessions: number;
  turnsPerSecond: number;
  messageToIdleMs: { p50: number; p99: number };
  eventLagMs: { p50: number; p99: number };
  statementsPerTurn: number;
  walBytesPerTurn: number;
  /** Between all machines and the database, in both directions. */
  wireBytesPerTurn: number;
}

export interface LabFigures {
  turns: TurnFigures[];
  takeover: TakeoverFigures;
}

const MODEL_MS = 1_000;
const SESSIONS_PER_WORKER = 4;
const SECONDS = 15;
const IDLE_SECONDS = 8;

export async function measureLab(network: LabNetwork, signal: AbortSignal, settings: LabSettings): Promise<LabFigures> {
  const turns: TurnFigures[] = [];
  for (let workers = 1; workers <= WORKERS.length; workers += 1) {
    console.error(`Measuring turns with ${workers} of ${WORKERS.length} workers …`);
    const figures = await measureTurns(network, { ...settings, workers }, signal);
    console.error(JSON.stringify(figures));
    turns.push(figures);
  }
  console.error("Measuring takeovers …");
  return { turns, takeover: await measureTakeovers(network, signal, settings) };
}

async function measureTurns(network: LabNetwork, settings: LabSettings, signal: AbortSignal): Promise<TurnFigures> {
  const { workers } = settings;
  const script = (_request: ModelRequest) => slowly(text("One word follows another."), { firstByteMs: MODEL_MS });
  await using stage = await openStage(network, settings, { script, signal });
  const { database, plan } = stage.lab;
  await countStatements(database.postgres, database.socketUrl);
  for (const process of stage.system.processes) await stage.system.ready(process);
  await sleep(3_000);
  const read = async () => ({ ...(await costsSoFar(database.socketUrl)), wire: await wireBytes(network) });
  const idleFrom = await read();
  await sleep(IDLE_SECONDS * 1_000);
  const idleTo = await read();
  const idle = { ...costsBetween(idleFrom, idleTo), wire: idleTo.wire - idleFrom.wire };

  const [sending, streaming] = SERVERS.map((server) => ({ url: `http://${server}:4760`, token: plan.apiKey() }));
  const clients = new FleetClients(sending!, streaming!);
  const sessions = workers * SESSIONS_PER_WORKER;
  await clients.begin(sessions);
  clients.reset();
  const [before, startedAt] = [await read(), performance.now()];
  await sleep(SECONDS * 1_000);
  const { turns, lags, times, failed } = clients;
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await read();
  await clients.stop();
  if (failed) throw new Error("A session failed.", { cause: failed });
  const costs = { ...costsBetween(before, after), wire: after.wire - before.wire };
  const perTurn = (key: keyof typeof costs): number =>
    (costs[key] - (idle[key] / IDLE_SECONDS) * seconds) / Math.max(1, turns);
  return {
    workers,
    sessions,
    turnsPerSecond: turns / seconds,
    messageToIdleMs: { p50: times.quantile(0.5), p99: times.quantile(0.99) },
    eventLagMs: { p50: lags.quantile(0.5), p99: lags.quantile(0.99) },
    statementsPerTurn: perTurn("statements"),
    walBytesPerTurn: perTurn("walBytes"),
    wireBytesPerTurn: perTurn("wire"),
  };
}

/** Counted by the router at the database's link. */
async function wireBytes(network: LabNetwork): Promise<number> {
  const folder = "/sys/class/net/postgres/statistics";
  const counts = await network.in("router", "cat", `${folder}/rx_bytes`, `${folder}/tx_bytes`);
  return counts
    .trim()
    .split("\n")
    .reduce((sum, count) => sum + Number(count), 0);
}
