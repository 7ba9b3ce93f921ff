import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { always, slowly, startRehearsal, text } from "@tandem/rehearsal";
import { z } from "zod";
import { descendantsOf, processStats } from "../../apps/cli/src/testing/process-stats.ts";
import { Helper } from "./helper.ts";
import { benchMachine } from "./machine.ts";
import { count, ms, ratio, type Figure, type Section } from "./report.ts";
import { nowUs } from "./stamp.ts";
import { startStampingRelay, UNSTAMPED } from "./stamping-relay.ts";
import { measuring, talkFigures, type TalkFigures } from "./talk.ts";

const SCRIPTED = { sessions: 100, seconds: 15, settleMs: 3_000, apartMs: 20 };
/** As many Claude Code processes as two cores bear: each takes most of a second of CPU to start, and some 100 MB. */
const REAL = { sessions: 16, seconds: 15, settleMs: 3_000, apartMs: 125 };
const TOKENS = 100;
const TOKEN_MS = 20;

interface Outcome extends TalkFigures {
  seconds: number;
  /** The server's own, or the program's that holds the conversations: without Claude Code. */
  cores: number;
  rssMb: number;
  /** Claude Code's processes. */
  processes: number;
  pssMb: number;
}

/** Many sessions that talk at once. */
export async function sessions(folder: string): Promise<Section[]> {
  const model = always(slowly(text(Array(TOKENS).fill(UNSTAMPED).join(" ")), { tokenMs: TOKEN_MS }));
  await using rehearsal = await startRehearsal([model]);
  await using relay = await startStampingRelay(rehearsal.url);
  console.error(`sessions: ${SCRIPTED.sessions} scripted …`);
  const scripted = await talkToScripted(folder);
  console.error(`sessions: ${REAL.sessions} on Claude Code …`);
  const real = await talkToTandem(relay.url, folder);
  console.error(`sessions: ${REAL.sessions} on the bare SDK …`);
  const bare = await talkToBareSdk(relay.url, folder);
  return [
    {
      title: `sessions, ${SCRIPTED.sessions} at once, a script in place of Claude Code`,
      figures: [...throughput(scripted), ...load(scripted)],
    },
    {
      title: `sessions, ${REAL.sessions} at once, on Claude Code`,
      peer: "the bare Agent SDK, which serves no clients",
      figures: [...throughput(real, bare), ...load(real, bare), ...processes(real, bare)],
    },
  ];
}

async function talkToScripted(folder: string): Promise<Outcome> {
  const place = join(folder, "scripted");
  await mkdir(place);
  await using server = new Helper("scripted-sessions.ts", { folder: place }, place);
  const { url, token } = await server.hear(z.object({ url: z.string(), token: z.string() }));
  await using clients = new Helper("session-clients.ts", { ...SCRIPTED, url, token }, place);
  return await measure(clients, server.pid);
}

async function talkToTandem(model: string, folder: string): Promise<Outcome> {
  await using machine = await benchMachine(model);
  await using server = await machine.up();
  await using clients = new Helper("session-clients.ts", { ...REAL, url: server.url, token: server.token }, folder);
  const outcome = await measure(clients, server.child.pid!);
  await server.stop();
  return outcome;
}

async function talkToBareSdk(url: string, folder: string): Promise<Outcome> {
  const place = join(folder, "bare");
  await mkdir(place);
  await using host = new Helper("bare-sessions.ts", { ...REAL, url, folder: place }, place);
  return await measure(host, host.pid);
}

/** `pid` is the one whose work is measured. */
async function measure(talker: Helper, pid: number): Promise<Outcome> {
  await talker.hear(measuring);
  const children = descendantsOf(pid).map(processStats);
  const before = { cpu: processStats(pid).cpuSeconds, at: nowUs() };
  const found = await talker.hear(talkFigures);
  const after = { ...processStats(pid), at: nowUs() };
  const seconds = (after.at - before.at) / 1_000_000;
  const outcome = {
    ...found,
    seconds,
    cores: (after.cpuSeconds - before.cpu) / seconds,
    rssMb: after.rssMb,
    processes: children.length,
    pssMb: children.reduce((sum, { pssMb }) => sum + pssMb, 0),
  };
  console.error(JSON.stringify(outcome));
  return outcome;
}

function throughput(ours: Outcome, peer?: Outcome): Figure[] {
  const perSecond = (what: string, of: (outcome: Outcome) => number): Figure =>
    figure(what, ours, peer, (outcome) => of(outcome) / outcome.seconds, count);
  return [
    perSecond("previews/s", ({ previews }) => previews.count),
    ...(peer ? [] : [perSecond("durable events/s", ({ events }) => events.count)]),
    perSecond("turns/s", ({ turns }) => turns),
  ];
}

const load = (ours: Outcome, peer?: Outcome): Figure[] => [
  figure("token to client, lag p50, ms", ours, peer, ({ previews }) => previews.p50, ms),
  figure("token to client, lag p99, ms", ours, peer, ({ previews }) => previews.p99, ms),
  figure("event to client, lag p50, ms", ours, undefined, ({ events }) => events.p50, ms),
  figure("event to client, lag p99, ms", ours, undefined, ({ events }) => events.p99, ms),
  figure("message to first word p50, ms", ours, peer, ({ firstWords }) => firstWords.p50, ms),
  figure("message to first word p99, ms", ours, peer, ({ firstWords }) => firstWords.p99, ms),
  figure(
    "cores, without Claude Code",
    ours,
    peer,
    ({ cores }) => cores,
    (value) => value.toFixed(2),
  ),
  figure("RSS, without Claude Code, MB", ours, peer, ({ rssMb }) => rssMb, count),
];

const processes = (ours: Outcome, peer: Outcome): Figure[] => [
  figure("all of them started and talking, s", ours, peer, ({ startMs }) => startMs / 1_000, ms),
  figure("Claude Code processes", ours, peer, (outcome) => outcome.processes, count),
  figure("their PSS together, MB", ours, peer, ({ pssMb }) => pssMb, count),
];

function figure(
  what: string,
  ours: Outcome,
  peer: Outcome | undefined,
  of: (outcome: Outcome) => number,
  show: (value: number) => string,
): Figure {
  if (!peer) return { what, value: show(of(ours)) };
  return { what, value: show(of(ours)), peer: show(of(peer)), ratio: ratio(of(ours), of(peer)) };
}
