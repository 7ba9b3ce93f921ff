import { availableParallelism, cpus, tmpdir } from "node:os";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { CatalogueReader, createContextTools, openContext, type ContextTool } from "@tandem/context";
import { configSchema } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { ms, quantile } from "../server/report.ts";
import { addColumns, addRows, COLUMNS, makeDatabase, ROWS, tableName } from "./make-database.ts";
import { cpuOfEnded, watchCommand, type Watched } from "./watch-command.ts";

const TABLES = 1_000;
const CALLS = 100;

/** Cost of scans and searches of a catalogue with many tables. `--tables=N` sets their number. */
export async function run(args: string[]): Promise<void> {
  const tables = Number(args.find((arg) => arg.startsWith("--tables="))?.split("=")[1] ?? TABLES);
  const others = otherWork();
  await using machine = await scratchMachine("connections: { shop: { driver: sqlite, path: shop.sqlite } }\n");
  const database = join(machine.project, "shop.sqlite");
  makeDatabase(database, tables);
  await machine.trust();
  // Compiled code is kept from run to run: what it takes to make is paid by the first command of an installation.
  await watchCommand(machine.start(["connections", "test", "--json"]));

  const scans: [what: string, Watched][] = [];
  const scan = async (what: string) => {
    const watched = await watchCommand(machine.start(["context", "scan", "shop", "--json"]));
    const [row] = (JSON.parse(watched.stdout) as { scans: { state: string; tables: { seen: number } }[] }).scans;
    if (row?.state !== "done" || row.tables.seen !== tables) throw new Error(watched.stdout.slice(0, 2_000));
    console.error(`${what}: ${describe(watched).join(", ")}`);
    scans.push([what, watched]);
  };
  await scan("the first scan");
  await scan("again, nothing has changed");
  addRows(database, tables);
  await scan("after one more row in every table");
  addColumns(database, tables);
  await scan("after one more column in every table");

  const place = join(machine.project, "context");
  const answers = await askTools(place, tables);
  const command = await watchCommand(machine.start(["context", "show", "order_10", "--json"]));
  const few = await watchCommand(machine.start(["context", "status", "--json"]));

  console.log(`${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}.`);
  console.log(`${tables.toLocaleString("en")} tables of ${COLUMNS} columns and ${ROWS} rows.`);
  console.log(`Other programs took ${others().toFixed(2)} cores meanwhile.\n`);
  console.log(
    "| `tandem context scan shop` | seconds | CPU s | peak RSS MB | with what it started, MB |\n|---|---|---|---|---|",
  );
  for (const [what, watched] of scans) console.log(`| ${what} | ${describe(watched).join(" | ")} |`);
  console.log("\n| question | the first, ms | later p50 / p99 ms |\n|---|---|---|");
  for (const [name, [first, ...later]] of answers) {
    console.log(`| \`${name}\` | ${ms(first!)} | ${ms(quantile(later, 0.5))} / ${ms(quantile(later, 0.99))} |`);
  }
  for (const [name, { seconds, cpuSeconds, peakMb }] of [
    ["tandem context show order_10", command],
    ["tandem context status", few],
  ] as const) {
    console.log(`\n\`${name}\`: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU, ${peakMb.toFixed(0)} MB.`);
  }
}

const describe = ({ seconds, cpuSeconds, peakMb, treePeakMb }: Watched): string[] => [
  seconds.toFixed(1),
  cpuSeconds.toFixed(1),
  peakMb.toFixed(0),
  treePeakMb.toFixed(0),
];

/** As a server has them: one process that is asked again and again. */
async function askTools(path: string, tables: number): Promise<[name: string, times: number[]][]> {
  const home = await mkdtemp(join(tmpdir(), "tandem-bench-"));
  try {
    await using store = await openStore(join(home, "tandem.db"));
    const { accept } = configSchema.parse({}).context;
    const { folder, search } = await openContext({ path, git: "own", accept, store });
    const parts = { folder, search, connections: { dialects: new Map(), open: () => Promise.reject(new Error()) } };
    // From one end of the catalogue to the other; the joined ones are three steps apart.
    const at = (call: number) => 60 + ((call * 7) % (tables - 60));
    const questions: [tool: string, input: (call: number) => object][] = [
      ["table_describe", (call) => ({ table: tableName(at(call)) })],
      ["join_path", (call) => ({ from: tableName(at(call)), to: tableName(at(call) - 23 - 23 - 7) })],
    ];
    const answers: [string, number[]][] = [];
    for (const [tool, input] of questions) {
      // Each with a reader of its own, so that the first call of each is one.
      const tools = createContextTools({ ...parts, catalogue: new CatalogueReader(folder) });
      const times: number[] = [];
      for (let call = 0; call < CALLS; call += 1) times.push(await time(tools, tool, input(call)));
      answers.push([tool, times]);
    }
    return answers;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function time(tools: readonly ContextTool[], name: string, input: object): Promise<number> {
  const tool = tools.find((each) => each.name === name)!;
  const began = performance.now();
  await tool.run(input, { signal: AbortSignal.timeout(60_000), by: "bench" });
  return performance.now() - began;
}

/** How many cores were busy with something else from now until it is asked. */
function otherWork(): () => number {
  const busy = (): number => cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice, 0) / 1_000;
  const own = (): number => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    return (userCPUTime + systemCPUTime) / 1e6 + cpuOfEnded();
  };
  const [start, mine, at] = [busy(), own(), performance.now()];
  return () => (busy() - start - (own() - mine)) / ((performance.now() - at) / 1_000);
}
