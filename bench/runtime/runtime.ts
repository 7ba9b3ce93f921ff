import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { slowly, startRehearsal, text, toolUse, type MessageReply, type ModelRequest } from "@tandem/rehearsal";
import { z } from "zod";
import { OPERATIONS, TOOL } from "./contender.ts";
import { installPeers } from "./load-peer.ts";

const CONTENDERS = [
  "bare SDK",
  "ai-sdk-provider-claude-code",
  "tandem, pool off",
  "tandem, single-use",
  "tandem, reuse",
];
const CELLS = [
  { concurrency: 1, calls: 12 },
  { concurrency: 4, calls: 24 },
  { concurrency: 8, calls: 32 },
];
const LATENCIES = [0, 1_000];

const cellSchema = z.object({
  operation: z.enum(OPERATIONS),
  concurrency: z.number(),
  calls: z.number(),
  p50: z.number(),
  p95: z.number(),
  perSecond: z.number(),
  cpu: z.number(),
  pss: z.number(),
});
const memorySchema = z.object({
  threeFreshIdle: z.number(),
  calls: z.number(),
  processes: z.number(),
  largest: z.number(),
  leftAfterIdleLimit: z.number(),
});
type Cell = z.infer<typeof cellSchema> & { contender: string; latency: number };

/**
 * Every contender in turn against one rehearsal; a table of medians and of ratios to the bare SDK.
 * `--quick` makes a third of the calls, `--instant` leaves out the slow model, other words choose contenders.
 */
export async function run(args: string[]): Promise<void> {
  const quick = args.includes("--quick");
  const only = args.filter((arg) => !arg.startsWith("--"));
  const latencies = args.includes("--instant") ? [0] : LATENCIES;
  const contenders = CONTENDERS.filter((name) => only.length === 0 || only.some((part) => name.includes(part)));
  installPeers();
  const cells: Cell[] = [];
  for (const latency of latencies) {
    await using rehearsal = await startRehearsal((request) => withLatency(answer(request), latency));
    for (const contender of contenders) {
      console.error(`model latency ${latency} ms: ${contender} …`);
      const sizes = quick ? CELLS.map((cell) => ({ ...cell, calls: Math.ceil(cell.calls / 3) })) : CELLS;
      for await (const cell of perform(contender, rehearsal.url, sizes)) cells.push({ ...cell, contender, latency });
    }
  }
  console.log(
    `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`,
  );
  for (const latency of latencies) for (const operation of OPERATIONS) printTable(cells, latency, operation);
  await printMemory();
}

async function printMemory(): Promise<void> {
  console.error("memory of the pool …");
  await using rehearsal = await startRehearsal((request) => answer(request));
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const script = join(import.meta.dirname, "memory.ts");
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, rehearsal.url, folder], { env });
    const found = memorySchema.parse(JSON.parse(stdout));
    console.log("\n### Memory of the pool\n");
    console.log(`- three fresh idle processes: ${found.threeFreshIdle.toFixed(0)} MB PSS together`);
    console.log(
      `- ${found.calls} calls in a row used ${found.processes} processes; the largest reached ${found.largest.toFixed(0)} MB RSS`,
    );
    console.log(`- processes left after the idle limit: ${found.leftAfterIdleLimit}`);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** The same wise model for all: objects and tool calls where they are asked for, by whatever name they go. */
function answer(request: ModelRequest): MessageReply {
  const lookUp = request.toolNames.find((name) => name.endsWith(TOOL.name));
  if (lookUp && request.toolResults.length === 0) return toolUse(lookUp, { word: "six" });
  if (lookUp) return text("42");
  const answerTool = request.toolNames.find((name) => /answer|StructuredOutput/.test(name));
  if (answerTool) return toolUse(answerTool, { answer: 42 });
  // The peer asks for objects in words.
  return request.system.includes("JSON") || JSON.stringify(request.messages).includes("JSON")
    ? text('{"answer": 42}')
    : text("42");
}

const withLatency = (reply: MessageReply, latency: number): MessageReply =>
  latency > 0 ? slowly(reply, { firstByteMs: latency }) : reply;

async function* perform(
  contender: string,
  url: string,
  cells: typeof CELLS,
): AsyncGenerator<z.infer<typeof cellSchema>> {
  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-"));
  const task = JSON.stringify({ contender, url, folder, cells });
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const child = spawn(process.execPath, [join(import.meta.dirname, "perform.ts"), task], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("{")) yield cellSchema.parse(JSON.parse(line));
    }
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function printTable(cells: Cell[], latency: number, operation: string): void {
  console.log(`\n### ${operation}, model latency ${latency / 1_000} s\n`);
  console.log("| contender | concurrent | p50 ms | × bare | p95 ms | calls/s | × bare | CPU s/call | PSS MB |");
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const { concurrency } of CELLS) {
    const row = cells.filter(
      (cell) => cell.latency === latency && cell.operation === operation && cell.concurrency === concurrency,
    );
    const bare = row.find((cell) => cell.contender === "bare SDK");
    for (const cell of row) {
      const ratio = (value: number, base: number | undefined): string => (base ? (value / base).toFixed(2) : "–");
      console.log(
        `| ${cell.contender} | ${concurrency} | ${cell.p50.toFixed(0)} | ${ratio(cell.p50, bare?.p50)} | ${cell.p95.toFixed(0)} | ${cell.perSecond.toFixed(2)} | ${ratio(cell.perSecond, bare?.perSecond)} | ${cell.cpu.toFixed(2)} | ${cell.pss.toFixed(0)} |`,
      );
    }
  }
}
