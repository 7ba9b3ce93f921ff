import { join } from "node:path";
import { startRehearsal } from "@tandem/rehearsal";
import { openStore } from "@tandem/storage";
import { append, newSessions } from "../storage/load.ts";
import { realisticTurn } from "../storage/turn.ts";
import { benchMachine, type Machine } from "./machine.ts";
import { ms, quantile, type Section } from "./report.ts";

const EVENTS = 10_000;
const COLD_STARTS = 5;
const WARM_REQUESTS = 300;
/** The first page of messages, 50 by default, and the log itself. */
const PAGES = ["messages", "messages?limit=100", "events?limit=100"];
const TARGET_MS = 50;

/** A long session is opened: its first page from a server that has just started, and from one that has not. */
export async function open(): Promise<Section[]> {
  await using rehearsal = await startRehearsal([]);
  await using machine = await benchMachine(rehearsal.url);
  // The first request of this process pays for what is loaded here, not there.
  await fetch(rehearsal.url);
  console.error(`open: a session of ${EVENTS.toLocaleString("en")} events …`);
  const session = await fill(machine);
  const sections: Section[] = [];
  for (const page of PAGES) {
    const path = `/v1/sessions/${session}/${page}`;
    const cold: number[] = [];
    let warm: number[] = [];
    for (let start = 1; start <= COLD_STARTS; start += 1) {
      await using server = await machine.up();
      const get = timedGet(`${server.url}${path}`, server.token);
      cold.push(await get());
      if (start === COLD_STARTS) {
        warm = [];
        for (let request = 0; request < WARM_REQUESTS; request += 1) warm.push(await get());
      }
      await server.stop();
    }
    console.error(`${page}: cold ${cold.map(ms).join(", ")} ms; warm ${ms(quantile(warm, 0.5))} ms`);
    const verdict = (value: number): string => `${ms(value)} (${value <= TARGET_MS ? "within" : "over"} ${TARGET_MS})`;
    sections.push({
      title: `open, ${EVENTS.toLocaleString("en")} events, /${page}`,
      figures: [
        { what: `first request of a fresh server, p50 of ${COLD_STARTS}, ms`, value: verdict(quantile(cold, 0.5)) },
        { what: "… the slowest, ms", value: verdict(Math.max(...cold)) },
        { what: "warm p50, ms", value: verdict(quantile(warm, 0.5)) },
        { what: "warm p99, ms", value: verdict(quantile(warm, 0.99)) },
      ],
    });
  }
  return sections;
}

/** Written as a server would have written it, and let go of. */
async function fill(machine: Machine): Promise<string> {
  await using store = await openStore(join(machine.variables.TANDEM_HOME, "tandem.db"));
  const [lease] = await newSessions(store, 1);
  let written = 0;
  for (let number = 0; written < EVENTS; number += 1) {
    const turn = realisticTurn(number).slice(0, EVENTS - written);
    await append(store, lease!, turn);
    written += turn.length;
  }
  await store.events.append(lease!, [], { session: { status: "idle" } });
  await store.leases.release(lease!);
  return lease!.session;
}

/** From the request to the last byte of the answer, in milliseconds; the connection is kept. */
function timedGet(url: string, token: string): () => Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return async () => {
    const begun = performance.now();
    const response = await fetch(url, { headers });
    const body = await response.text();
    if (!response.ok) throw new Error(body);
    return performance.now() - begun;
  };
}
