import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { vitalsOf } from "../../apps/cli/src/testing/vitals.ts";
import { fanoutDone, fanoutPlace, ready, subscribersFound, type FanoutTask } from "./fanout-task.ts";
import { Helper } from "./helper.ts";
import { count, ms, ratio, type Figure, type Section } from "./report.ts";
import { nowUs } from "./stamp.ts";

/** The one that is asked of the server, and one that a server without thought can bear too. */
const LOADS = [
  { subscribers: 1_000, perSecond: 500 },
  { subscribers: 100, perSecond: 50 },
];
const SECONDS = 10;

const CONTENDERS = [
  { name: "tandem", script: "fanout-tandem.ts", windowMs: 0 },
  { name: "bare, a write per event", script: "fanout-bare.ts", windowMs: 0 },
  { name: "bare, in windows of 50 ms", script: "fanout-bare.ts", windowMs: 50 },
];

interface Outcome {
  /** Of all that was to be delivered. */
  delivered: number;
  expected: number;
  misplaced: number;
  p50: number;
  p99: number;
  max: number;
  cores: number;
  rssMb: number;
}

/** One session, many subscribers: the server against node:http that keeps nothing. */
export async function fanout(folder: string): Promise<Section[]> {
  const sections: Section[] = [];
  for (const load of LOADS) {
    const title = `fanout, ${count(load.subscribers)} subscribers, ${load.perSecond} events/s`;
    const outcomes: Outcome[] = [];
    for (const contender of CONTENDERS) {
      console.error(`${title}: ${contender.name} …`);
      const place = join(folder, `fanout-${load.subscribers}-${CONTENDERS.indexOf(contender)}`);
      await mkdir(place);
      const task = { folder: place, perSecond: load.perSecond, seconds: SECONDS, windowMs: contender.windowMs };
      const outcome = await measure(contender.script, task, load.subscribers);
      console.error(JSON.stringify(outcome));
      outcomes.push(outcome);
    }
    const [ours, ...peers] = outcomes as [Outcome, ...Outcome[]];
    for (const [index, peer] of peers.entries()) {
      sections.push({ title: `${title}; peer: ${CONTENDERS[index + 1]!.name}`, figures: compare(ours, peer) });
    }
  }
  return sections;
}

async function measure(script: string, task: FanoutTask, subscribers: number): Promise<Outcome> {
  await using server = new Helper(script, task, task.folder);
  const place = await server.hear(fanoutPlace);
  await using clients = new Helper("subscribers.ts", { ...place, subscribers }, task.folder);
  await clients.hear(ready);
  const before = { cpu: vitalsOf(server.pid).cpuSeconds, at: nowUs() };
  server.tell("go");
  await server.hear(fanoutDone);
  const after = { ...vitalsOf(server.pid), at: nowUs() };
  clients.tell("finish");
  const found = await clients.hear(subscribersFound);
  return {
    delivered: found.received,
    expected: task.perSecond * task.seconds * subscribers,
    misplaced: found.misplaced,
    p50: found.p50,
    p99: found.p99,
    max: found.max,
    cores: (after.cpuSeconds - before.cpu) / ((after.at - before.at) / 1_000_000),
    rssMb: after.rssMb,
  };
}

function compare(ours: Outcome, peer: Outcome): Figure[] {
  const share = ({ delivered, expected }: Outcome): string =>
    `${count(delivered)} of ${count(expected)} (${((100 * delivered) / expected).toFixed(1)} %)`;
  return [
    { what: "delivered in time", value: share(ours), peer: share(peer), ratio: ratio(ours.delivered, peer.delivered) },
    { what: "lost, repeated or out of order", value: count(ours.misplaced), peer: count(peer.misplaced) },
    { what: "lag p50, ms", value: ms(ours.p50), peer: ms(peer.p50), ratio: ratio(ours.p50, peer.p50) },
    { what: "lag p99, ms", value: ms(ours.p99), peer: ms(peer.p99), ratio: ratio(ours.p99, peer.p99) },
    { what: "cores", value: ours.cores.toFixed(2), peer: peer.cores.toFixed(2), ratio: ratio(ours.cores, peer.cores) },
    { what: "RSS, MB", value: count(ours.rssMb), peer: count(peer.rssMb), ratio: ratio(ours.rssMb, peer.rssMb) },
  ];
}
