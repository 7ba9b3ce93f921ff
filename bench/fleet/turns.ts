import { setTimeout as sleep } from "node:timers/promises";
import { slowly, text } from "@tandem/rehearsal";
import { descendantsOf } from "../../apps/cli/src/testing/process-stats.ts";
import { fleetMachine } from "../../apps/cli/src/fleet/testing/fleet-machine.ts";
import type { UpProcess } from "../../apps/cli/src/testing/session-machine.ts";
import { cpuSeconds } from "../runtime/process-tree.ts";
import { count, ms, type Figure, type Section } from "../server/report.ts";
import { FleetClients } from "./fleet-clients.ts";
import { costsBetween, costsSoFar, countStatements, mostAsked, type Costs } from "./postgres-costs.ts";

const WORKERS = [1, 2, 4, 8];
const SESSIONS_PER_WORKER = 4;
const MODEL_MS = 1_000;
const SECONDS = 20;
const IDLE_SECONDS = 10;

/** Turns of a fleet of two servers and so many workers, all on this machine, with a model that takes a second. */
export async function turns(workerCounts: readonly number[] = WORKERS): Promise<Section[]> {
  const sections: Section[] = [];
  for (const workers of workerCounts) sections.push({ title: title(workers), figures: await measure(workers) });
  return sections;
}

const title = (workers: number): string =>
  `${workers} ${workers === 1 ? "worker" : "workers"}, ${workers * SESSIONS_PER_WORKER} sessions`;

async function measure(workers: number): Promise<Figure[]> {
  console.error(`turns: ${title(workers)} …`);
  const max = ["--max-sessions", String(SESSIONS_PER_WORKER)];
  await using fleet = await fleetMachine();
  await fleet.reset(() => slowly(text("One word follows another."), { firstByteMs: MODEL_MS }));
  const { database } = fleet;
  await countStatements(fleet.postgres, database);
  const sending = await fleet.upProcess("--as", "server");
  const [streaming, ...workerProcesses] = await Promise.all([
    fleet.upProcess("--as", "server"),
    ...Array.from({ length: workers }, () => fleet.upProcess("--as", "worker", ...max)),
  ]);
  const cpu = () => cpuOf([sending, streaming], workerProcesses);
  await sleep(2_000);
  const idleFrom = await costsSoFar(database);
  await sleep(IDLE_SECONDS * 1_000);
  const idle = costsBetween(idleFrom, await costsSoFar(database));

  const clients = new FleetClients(sending, { url: streaming.url, token: sending.token });
  await clients.begin(workers * SESSIONS_PER_WORKER);
  clients.reset();
  const before = { costs: await costsSoFar(database), cpu: cpu(), at: performance.now() };
  await sleep(SECONDS * 1_000);
  const { turns: done, lags, times } = clients;
  const seconds = (performance.now() - before.at) / 1_000;
  const costs = costsBetween(before.costs, await costsSoFar(database));
  const after = cpu();
  const failed = clients.failed;
  await clients.stop();
  if (failed) throw new Error("A session failed.", { cause: failed });
  if (process.env["TANDEM_BENCH_STATEMENTS"]) console.error((await mostAsked(database)).join("\n"));
  const busy = (of: keyof typeof after): string => ((after[of] - before.cpu[of]) / seconds).toFixed(2);
  const perTurn = (key: keyof Costs): number => (costs[key] - (idle[key] / IDLE_SECONDS) * seconds) / done;
  return [
    { what: "turns/s", value: (done / seconds).toFixed(1) },
    { what: "message to idle p50 / p99, ms", value: `${ms(times.quantile(0.5))} / ${ms(times.quantile(0.99))}` },
    {
      what: "append at the worker to a stream of another server, p50 / p99, ms",
      value: `${ms(lags.quantile(0.5))} / ${ms(lags.quantile(0.99))}`,
    },
    {
      what: "cores: servers / workers / Claude Code",
      value: `${busy("servers")} / ${busy("workers")} / ${busy("claude")}`,
    },
    {
      what: "CPU of a turn, worker and Claude Code, s",
      value: ((after.workers + after.claude - before.cpu.workers - before.cpu.claude) / done).toFixed(2),
    },
    { what: "Postgres per turn: transactions", value: perTurn("transactions").toFixed(1) },
    { what: "… statements that write", value: perTurn("writes").toFixed(1) },
    {
      what: "… statements, of which the queue's",
      value: `${perTurn("statements").toFixed(1)}, ${perTurn("queueStatements").toFixed(1)}`,
    },
    { what: "… notifications", value: perTurn("notifications").toFixed(1) },
    { what: "… WAL, kB", value: (perTurn("walBytes") / 1_000).toFixed(1) },
    { what: "… on disk, kB", value: (costs.bytes / done / 1_000).toFixed(1) },
    {
      what: "Postgres of a fleet at rest: transactions/s, statements/s",
      value: `${count(idle.transactions / IDLE_SECONDS)}, ${count(idle.statements / IDLE_SECONDS)}`,
    },
  ];
}

function cpuOf(servers: readonly UpProcess[], workers: readonly UpProcess[]) {
  const sum = (pids: readonly number[]): number => pids.reduce((total, pid) => total + cpuSeconds(pid), 0);
  const pidsOf = (of: readonly UpProcess[]): number[] => of.flatMap(({ child }) => child.pid ?? []);
  const own = pidsOf(workers);
  return { servers: sum(pidsOf(servers)), workers: sum(own), claude: sum(own.flatMap(descendantsOf)) };
}
