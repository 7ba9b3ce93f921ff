import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { processStats } from "../../apps/cli/src/testing/process-stats.ts";
import { fanoutDone, fanoutPlace, ready, subscribersFound, type FanoutTask } from "./fanout-task.ts";
import { Helper } from "./helper.ts";
import { count, ms, quantile, ratio, type Figure, type Section } from "./report.ts";
import { nowUs } from "./stamp.ts";

/** The one that is asked of the server, and one that a server without thought can bear too. */
const LOADS = [
  { subscribers: 1_000, perSecond: 500 },
  { subscribers: 100, perSecond: 50 },
];
const SECONDS = 6;
const WARM_UP_SECONDS = 2;
/** Each contender once a round; of each figure, the middle one counts. */
const ROUNDS = 3;

const CONTENDERS = [
  { name: "tandem", script: "fanout-tandem.ts", windowMs: 0 },
  { name: "bare, in windows of 50 ms", script: "fanout-bare.ts", windowMs: 50 },
  { name: "bare, a write per event", script: "fanout-bare.ts", windowMs: 0 },
];

interface Outcome {
  /** Of all that was to be delivered. */
  delivered: number;
  expected: number;
  misplaced: number;
  p50: number;
  p99: number;
  cores: number;
  rssMb: number;
}

/** One session, many subscribers: the server against node:http that keeps nothing. */
export async function fanout(folder: string): Promise<Section[]> {
  const sections: Section[] = [];
  for (const load of LOADS) {
    const title = `fanout, ${count(load.subscribers)} × ${load.perSecond}/s`;
    const outcomes = CONTENDERS.map((): Outcome[] => []);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const [index, { name, script, windowMs }] of CONTENDERS.entries()) {
        console.error(`${title}, round ${round}: ${name} …`);
        const place = join(folder, `fanout-${load.subscribers}-${round}-${index}`);
        await mkdir(place);
        const task = { folder: place, perSecond: load.perSecond, seconds: SECONDS, windowMs };
        outcomes[index]!.push(await measure(script, task, load.subscribers));
      }
    }
    const [ours, ...peers] = outcomes.map(middle) as [Outcome, ...Outcome[]];
    for (const [index, peer] of peers.entries()) {
      sections.push({ title, peer: CONTENDERS[index + 1]!.name, figures: compare(ours, peer) });
    }
  }
  return sections;
}

async function measure(script: string, task: FanoutTask, subscribers: number): Promise<Outcome> {
  await using server = new Helper(script, task, task.folder);
  const place = await server.hear(fanoutPlace);
  const audience = { ...place, subscribers, warmUpSeconds: WARM_UP_SECONDS };
  await using clients = new Helper("subscribers.ts", audience, task.folder);
  await clients.hear(ready);
  const before = { cpu: processStats(server.pid).cpuSeconds, at: nowUs() };
  server.tell("go");
  await server.hear(fanoutDone);
  const after = { ...processStats(server.pid), at: nowUs() };
  clients.tell("finish");
  const { received, misplaced, p50, p99 } = await clients.hear(subscribersFound);
  const outcome = {
    delivered: received,
    expected: task.perSecond * task.seconds * subscribers,
    misplaced,
    p50,
    p99,
    cores: (after.cpuSeconds - before.cpu) / ((after.at - before.at) / 1_000_000),
    rssMb: after.rssMb,
  };
  console.error(JSON.stringify(outcome));
  return outcome;
}

/** Of each figure the median, but all that went wrong. */
function middle(rounds: readonly Outcome[]): Outcome {
  const of = (key: keyof Outcome): number =>
    quantile(
      rounds.map((round) => round[key]),
      0.5,
    );
  return {
    delivered: Math.min(...rounds.map(({ delivered }) => delivered)),
    expected: of("expected"),
    misplaced: rounds.reduce((sum, round) => sum + round.misplaced, 0),
    p50: of("p50"),
    p99: of("p99"),
    cores: of("cores"),
    rssMb: of("rssMb"),
  };
}

function compare(ours: Outcome, peer: Outcome): Figure[] {
  const share = ({ delivered, expected }: Outcome): number => (100 * delivered) / expected;
  const figure = (what: string, of: (outcome: Outcome) => number, show: (value: number) => string): Figure => ({
    what,
    value: show(of(ours)),
    peer: show(of(peer)),
    ratio: ratio(of(ours), of(peer)),
  });
  return [
    figure("delivered, %", share, (value) => value.toFixed(1)),
    { what: "lost, repeated or out of order", value: count(ours.misplaced), peer: count(peer.misplaced) },
    figure("lag p50, ms", ({ p50 }) => p50, ms),
    figure("lag p99, ms", ({ p99 }) => p99, ms),
    figure(
      "cores",
      ({ cores }) => cores,
      (value) => value.toFixed(2),
    ),
    figure("RSS, MB", ({ rssMb }) => rssMb, count),
  ];
}
