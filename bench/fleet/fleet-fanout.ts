import { newId } from "@tandem/protocol";
import { openStore, type Store } from "@tandem/storage";
import { startPostgres } from "@tandem/storage/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { Lags } from "../server/lags.ts";
import { count, ms, type Section } from "../server/report.ts";
import { nowUs } from "../server/stamp.ts";
import { newSessions } from "../storage/load.ts";

const SECONDS = 8;
const SESSIONS = 20;
const RATES = [100, 500];

type Listen = (
  store: Store,
  sessions: readonly string[],
  heard: (text: string) => void,
  signal: AbortSignal,
) => Promise<void>;

/** From an append at one process to a listener at another, by notification and by polling: two stores on one Postgres. */
export async function fleetFanout(): Promise<Section[]> {
  await using postgres = await startPostgres();
  const sections: Section[] = [];
  for (const rate of RATES) {
    for (const [how, listen] of [
      ["by notification", byNotification],
      ["by polling every 100 ms", byPolling(100)],
      ["by polling every second", byPolling(1_000)],
    ] as const) {
      console.error(`fanout: ${rate}/s ${how} …`);
      const { lags, sent, reads } = await measure(await postgres.createDatabase(), rate, listen);
      sections.push({
        title: `fan-out, ${rate} events/s of ${SESSIONS} sessions, ${how}`,
        figures: [
          { what: "received, %", value: ((lags.count / sent) * 100).toFixed(1) },
          { what: "lag p50 / p99, ms", value: `${ms(lags.quantile(0.5))} / ${ms(lags.quantile(0.99))}` },
          ...(reads > 0 ? [{ what: "reads/s", value: count(reads / SECONDS) }] : []),
        ],
      });
    }
  }
  return sections;
}

let polls = 0;

const byNotification: Listen = async (store, sessions, heard, signal) => {
  await Promise.all(
    sessions.map(async (session) => {
      for await (const batch of store.events.follow(session as never, 0, signal))
        for (const { event } of batch) heard(JSON.stringify(event));
    }),
  );
};

const byPolling =
  (everyMs: number): Listen =>
  async (store, sessions, heard, signal) => {
    await Promise.all(
      sessions.map(async (session) => {
        for (let after = 0; !signal.aborted; await sleep(everyMs)) {
          polls += 1;
          for (const { event, seq } of await store.events.read(session as never, { after, limit: 1_000 })) {
            heard(JSON.stringify(event));
            after = seq;
          }
        }
      }),
    );
  };

async function measure(
  database: string,
  rate: number,
  listen: Listen,
): Promise<{ lags: Lags; sent: number; reads: number }> {
  await using writer = await openStore(database);
  await using reader = await openStore(database);
  const leases = await newSessions(writer, SESSIONS);
  const lags = new Lags();
  const ending = new AbortController();
  polls = 0;
  const listening = listen(
    reader,
    leases.map(({ session }) => session),
    (event) => {
      const stamped = /at (\d+)\./.exec(event)?.[1];
      if (stamped) lags.add(nowUs() - Number(stamped));
    },
    ending.signal,
  );
  await sleep(500);
  const begun = performance.now();
  const writing: Promise<unknown>[] = [];
  let sent = 0;
  for (; performance.now() - begun < SECONDS * 1_000; await sleep(5)) {
    for (const due = ((performance.now() - begun) / 1_000) * rate; sent < due; sent += 1) {
      const content = [{ type: "text" as const, text: `at ${nowUs()}.` }];
      const event = {
        id: newId("event"),
        processed_at: new Date().toISOString(),
        type: "agent.message" as const,
        content,
      };
      writing.push(
        writer.events.append(leases[sent % SESSIONS]!, [
          { thread: null, event: { ...event, tandem: { message_id: "m" } } },
        ]),
      );
    }
  }
  await Promise.all(writing);
  const deadline = Date.now() + 5_000;
  while (lags.count < sent && Date.now() < deadline) await sleep(20);
  const reads = polls;
  ending.abort();
  await listening;
  return { lags, sent, reads };
}
