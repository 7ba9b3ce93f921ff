import type { DeadLetter, FleetStatus, FleetWorker } from "@tandem/protocol";
import { ago } from "../human-units.ts";
import { printable, table, type Style } from "../terminal.ts";

const BARS = "▁▂▃▄▅▆▇█";

/** Renders the fleet for a terminal. Colours problems and adds the next step. */
export function renderFleet(status: FleetStatus, style: Style): string[] {
  const { bold, dim, warn } = style;
  const { workers, queue, leases, limits, throughput, dead } = status;
  const live = workers.filter(({ state }) => state !== "gone");
  const lines = [
    ...(live.length === 0 ? [warn("No server or worker uses this database."), dim("  Start one: tandem up"), ""] : []),
    ...section(bold("Workers"), table(workers.map((worker) => workerRow(worker, style)))),
    ...section(bold("Waiting"), waitingLines(status, style)),
  ];
  const turns = `${throughput.turns_per_minute} a minute`;
  const abandoned = leases.abandoned > 0 ? warn(`  ${leases.abandoned} to take over`) : "";
  lines.push(
    ...table([
      [bold("Turns"), `${turns}  ${dim(sparkline(throughput.minutes))} ${dim("last ten minutes")}`],
      [bold("Sessions held"), `${leases.held}${abandoned}`],
    ]),
  );
  if (limits.length > 0) {
    const rows = limits.map(({ account, kind, model, resets_at: resets, learned_by: by }) => [
      warn(printable(account)),
      limitName({ kind, model }),
      `until ${localTime(resets)} ${dim(`(${within(Date.parse(resets) - Date.now())})`)}`,
      dim(`as ${printable(by)} learned`),
    ]);
    lines.push("", ...section(bold("Exhausted quotas"), table(rows)).slice(0, -1));
  }
  if (dead > 0) lines.push("", warn(`${dead === 1 ? "1 run" : `${dead} runs`} failed: tandem fleet dead`));
  if (queue.some(({ served, waiting }) => !served && waiting > 0)) {
    lines.push("", warn("No worker can run some of the queued work. Start one with the required labels."));
  }
  return lines;
}

export function renderDead(letters: readonly DeadLetter[], { bold, dim, bad }: Style): string[] {
  if (letters.length === 0) return [dim("No failed runs.")];
  const lines = letters.flatMap(({ key, kind, tenant, place, error, attempts, at }) => [
    `${bold(printable(key))}  ${dim(`${kind} of ${printable(tenant)}, for ${printable(place)}`)}`,
    `  ${bad(printable(error.split("\n", 1)[0]!))}`,
    dim(`  after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}, ${ago(at)}`),
  ]);
  return [...lines, "", dim("Queue one again: tandem fleet requeue KEY")];
}

const limitName = ({ kind, model }: Pick<FleetStatus["limits"][number], "kind" | "model">): string =>
  model === null ? kind.replaceAll("_", " ") : printable(model);

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`), ""];

function workerRow(worker: FleetWorker, { dim, good, warn, bad }: Style): string[] {
  const { id, role, state, machine, sessions, max_sessions: most, turns_per_minute: rate } = worker;
  const paint = { live: good, draining: warn, gone: bad }[state];
  const labels = Object.entries(worker.labels).map(([name, value]) => `${name}=${value}`);
  const tenants = worker.tenants === null ? [] : [`tenant ${worker.tenants.join(", ")}`];
  const more = [...labels, ...tenants, worker.payer?.replaceAll("_", " ") ?? "", worker.version].filter(Boolean);
  const problem = worker.problem ? bad(`takes no work: ${printable(worker.problem)}  `) : "";
  const seen = state === "gone" ? `  no heartbeat for ${words(worker.silent_ms)}` : "";
  return [
    // Outside a fleet this process has no row and is the only one.
    `${worker.problem ? bad("●") : paint("●")} ${id === "wrk_here" ? "this one" : id}`,
    role === "all" ? "all" : role,
    printable(machine),
    role === "server"
      ? dim("–")
      : `${sessions}${most === null ? "" : ` of ${most}`} ${dim((most ?? sessions) === 1 ? "session" : "sessions")}`,
    role === "server" ? "" : `${rate} ${dim("turns/min")}`,
    `${state === "live" ? "" : paint(`${state}${seen}  `)}${problem}${dim(printable(more.join("  ")))}`,
  ];
}

function waitingLines({ queue }: FleetStatus, { dim, warn, bad }: Style): string[] {
  const rows = queue
    .filter(({ waiting, running }) => waiting + running > 0)
    .map(({ place, waiting, running, oldest_ms: oldest, served }) => [
      printable(place),
      waiting > 0 ? warn(`${waiting} waiting`) : dim("0 waiting"),
      dim(`${running} running`),
      oldest === null ? "" : dim(`oldest ${words(oldest)}`),
      served ? "" : bad("no matching worker"),
    ]);
  return table(rows);
}

const sparkline = (counts: readonly number[]): string => {
  const most = Math.max(1, ...counts);
  return counts.map((count) => BARS[Math.round((count / most) * (BARS.length - 1))]).join("");
};

const localTime = (time: string): string =>
  new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
const within = (ms: number): string => `in ${words(ms)}`;

function words(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
