import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type SearchQuery, type Store } from "@tandem/storage";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { append, newSessions, small } from "../storage/load.ts";
import { Dice, identifier, makeDocument, makeVector, makeVocabulary, type Vocabulary } from "./generated-documents.ts";

const DOCUMENTS = 100_000;
const PUT_AT_ONCE = 500;
const QUERIES = 300;
const DIMENSIONS = 384;
const SPACE = "bench";
const MODEL = "made-up";

type Row = [what: string, value: string];

/**
 * Searches over many documents, on SQLite; with `--postgres`, on Postgres too. `--documents=N` for another number of them,
 * `--no-vectors` without those.
 */
export async function run(args: string[]): Promise<void> {
  const count = Number(args.find((arg) => arg.startsWith("--documents="))?.split("=")[1] ?? DOCUMENTS);
  const withVectors = !args.includes("--no-vectors");
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  const columns: [engine: string, Row[]][] = [];
  const busyBefore = otherWork();
  try {
    columns.push(["SQLite", await measure(join(folder, "search.db"), count, withVectors)]);
    if (args.includes("--postgres")) {
      const missing = whyNoPostgres();
      if (missing) throw new Error(`No Postgres: ${missing}.`);
      await using postgres = await startPostgres();
      columns.push(["Postgres", await measure(await postgres.createDatabase(), count, withVectors)]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}.`);
  console.log(`Other programs took ${busyBefore().toFixed(2)} cores meanwhile.\n`);
  console.log(`| | ${columns.map(([engine]) => engine).join(" | ")} |\n|---|${columns.map(() => "---|").join("")}`);
  for (const [index, [what]] of columns[0]![1].entries()) {
    console.log(`| ${what} | ${columns.map(([, rows]) => rows[index]![1]).join(" | ")} |`);
  }
}

async function measure(place: string, count: number, withVectors: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const add = (what: string, value: string): void => {
    console.error(`${what}: ${value}`);
    rows.push([what, value]);
  };
  const dice = new Dice(7);
  const vocabulary = makeVocabulary(dice);
  await using store = await openStore(place);

  const indexed = await fill(store, count, dice, vocabulary, withVectors);
  add(`documents`, `${count.toLocaleString("en")}, ${(indexed.letters / count / 1_000).toFixed(1)} kB of text each`);
  add("put, documents/s", indexed.perSecond.toFixed(0));
  add("on disk, per document", `${((await store.describe()).bytes / count / 1_000).toFixed(1)} kB`);

  const queries = makeQueries(new Dice(11), vocabulary);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const everything: number[] = [];
  const cpu = process.cpuUsage();
  for (const [what, texts] of Object.entries(queries)) {
    const times = await timeSearches(
      store,
      texts.map((text) => ({ text, limit: 10 })),
    );
    everything.push(...times);
    add(`${what}, p50 / p95 / p99 ms`, percentiles(times));
  }
  loop.disable();
  const { user, system } = process.cpuUsage(cpu);
  add("**all of these**, p50 / p95 / p99 ms", percentiles(everything));
  add("processor time of one of them, all threads, ms", ms((user + system) / 1_000 / everything.length));
  const mixed = Object.values(queries).flatMap((texts) => texts.slice(0, 40));
  const tables = mixed.map((text): SearchQuery => ({
    text,
    limit: 10,
    kinds: ["table"],
    filters: { connection: "crm" },
  }));
  add("mixed, with a kind and a filter, p50 / p95 / p99 ms", percentiles(await timeSearches(store, tables)));
  add("event loop's delay meanwhile, p99 / max ms", `${ms(loop.percentile(99) / 1e6)} / ${ms(loop.max / 1e6)}`);

  if (withVectors) {
    const vectorOf = (): Pick<SearchQuery, "vector" | "vectorModel"> => {
      return { vector: makeVector(dice, DIMENSIONS), vectorModel: MODEL };
    };
    const [first] = await timeSearches(store, [{ text: mixed[0]!, limit: 10, ...vectorOf() }]);
    add("with vectors, the first (all are read), ms", ms(first!));
    const fused = mixed.map((text): SearchQuery => ({ text, limit: 10, ...vectorOf() }));
    add("with vectors, p50 / p95 / p99 ms", percentiles(await timeSearches(store, fused)));
  }

  const [lease] = await newSessions(store, 1);
  const appends = async (until: () => boolean): Promise<number[]> => {
    const times: number[] = [];
    while (!until()) {
      const begun = performance.now();
      await append(store, lease!, [small()]);
      times.push(performance.now() - begun);
      await delay(2);
    }
    return times;
  };
  const alone = performance.now() + 3_000;
  add("an event's append alone, p50 / p95 / p99 ms", percentiles(await appends(() => performance.now() > alone)));
  let done = false;
  const load = Promise.all(
    [0, 1, 2, 3].map((part) =>
      timeSearches(
        store,
        mixed.filter((_, index) => index % 4 === part).map((text) => ({ text, limit: 10 })),
      ),
    ),
  ).then(() => (done = true));
  add("beside four that search without pause", percentiles(await appends(() => done)));
  await load;
  done = false;
  const more = fillMore(store, count, dice, vocabulary).then(() => (done = true));
  add("beside one that puts documents", percentiles(await appends(() => done)));
  await more;
  return rows;
}

async function fill(store: Store, count: number, dice: Dice, vocabulary: Vocabulary, withVectors: boolean) {
  let letters = 0;
  let took = 0;
  for (let from = 0; from < count; from += PUT_AT_ONCE) {
    const documents = Array.from({ length: Math.min(PUT_AT_ONCE, count - from) }, (_, index) => {
      const document = makeDocument(dice, vocabulary, from + index);
      letters += document.text.length;
      return withVectors ? { ...document, vector: makeVector(dice, DIMENSIONS), vectorModel: MODEL } : document;
    });
    const begun = performance.now();
    await store.search.put(SPACE, documents);
    took += performance.now() - begun;
    if ((from / PUT_AT_ONCE) % 20 === 19) console.error(`  ${from + PUT_AT_ONCE} documents`);
  }
  return { letters, perSecond: (count / took) * 1_000 };
}

const fillMore = (store: Store, count: number, dice: Dice, vocabulary: Vocabulary): Promise<void> =>
  store.search.put(
    SPACE,
    Array.from({ length: 1_000 }, (_, index) => makeDocument(dice, vocabulary, count + index)),
  );

function makeQueries(dice: Dice, { words }: Vocabulary): Record<string, string[]> {
  const languages = Object.keys(words);
  const between = (from: number, to: number): string => words[dice.of(languages)]![from + dice.below(to - from)]!;
  const any = (): string => {
    const language = dice.of(languages);
    return words[language]![Math.floor(words[language]!.length ** dice.next()) - 1]!;
  };
  const make = (query: () => string): string[] => Array.from({ length: QUERIES }, query);
  return {
    "one word": make(any),
    "three words": make(() => [any(), any(), any()].join(" ")),
    "a question of eight words": make(() => Array.from({ length: 8 }, any).join(" ")),
    "an identifier": make(() => identifier(dice, dice.below(500))),
    "a rare word": make(() => between(10_000, 20_000)),
    "a common word": make(() => between(0, 25)),
    "three common words": make(() => [between(0, 25), between(0, 25), between(0, 25)].join(" ")),
    "the beginning of a word": make(() => between(30, 5_000).slice(0, 3)),
  };
}

async function timeSearches(store: Store, queries: readonly SearchQuery[]): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const begun = performance.now();
    await store.search.search(SPACE, query);
    times.push(performance.now() - begun);
  }
  return times;
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

function percentiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return [0.5, 0.95, 0.99]
    .map((share) => ms(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!))
    .join(" / ");
}

/** How many cores were busy with something else from now until it is asked. */
function otherWork(): () => number {
  const busy = (): number => cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice, 0);
  const [start, own, at] = [busy(), process.cpuUsage(), performance.now()];
  return () => {
    const { user, system } = process.cpuUsage(own);
    return Math.max(0, (busy() - start - (user + system) / 1_000) / (performance.now() - at));
  };
}
