import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { say } from "./helper.ts";
import { Lags } from "./lags.ts";
import { nowUs, readStamp } from "./stamp.ts";

/** Task of a process that holds conversations. */
export const talkTask = z.object({
  sessions: z.number(),
  seconds: z.number(),
  settleMs: z.number(),
  /** From one session's start to the next one's: people do not press a key all at once. */
  apartMs: z.number(),
});
type TalkTask = z.infer<typeof talkTask>;

const lagFigures = z.object({ count: z.number(), p50: z.number(), p99: z.number() });
export const measuring = z.object({ measuring: z.literal(true) });
export const talkFigures = z.object({
  /** From the first message to the last session's first word. */
  startMs: z.number(),
  turns: z.number(),
  previews: lagFigures,
  events: lagFigures,
  /** From a message to the first word of its answer. */
  firstWords: lagFigures,
});
export type TalkFigures = z.infer<typeof talkFigures>;

const STARTUP_MS = 120_000;

/** Measurements of these processes since the last `reset`. */
export class Talk {
  previews = new Lags();
  events = new Lags();
  firstWords = new Lags();
  turns = 0;
  isOver = false;

  /** A piece of text came; `askedAt` if it is the first of an answer. */
  heard(text: string, askedAt: number | undefined): void {
    const stamped = readStamp(text);
    if (stamped) this.previews.add(nowUs() - stamped.timeUs);
    if (askedAt !== undefined) this.firstWords.add(nowUs() - askedAt);
  }

  reset(): void {
    [this.previews, this.events, this.firstWords, this.turns] = [new Lags(), new Lags(), new Lags(), 0];
  }
}

/** In a helper: holds all conversations and says what came of them. `converse` resolves with a session's first word. */
export async function measureTalk(task: TalkTask, converse: (talk: Talk) => Promise<void>): Promise<void> {
  const talk = new Talk();
  const late = sleep(STARTUP_MS, undefined, { ref: false }).then((): never => {
    throw new Error("A session did not answer in time.");
  });
  const begun = performance.now();
  const all = Array.from({ length: task.sessions }, async (_, index) => {
    await sleep(index * task.apartMs);
    await converse(talk);
  });
  await Promise.race([Promise.all(all), late]);
  const startMs = performance.now() - begun;
  await sleep(task.settleMs);
  talk.reset();
  say({ measuring: true });
  await sleep(task.seconds * 1_000);
  talk.isOver = true;
  const { turns, previews, events, firstWords } = talk;
  say({ startMs, turns, previews: summary(previews), events: summary(events), firstWords: summary(firstWords) });
}

const summary = (lags: Lags): z.infer<typeof lagFigures> => ({
  count: lags.count,
  p50: lags.quantile(0.5),
  p99: lags.quantile(0.99),
});
