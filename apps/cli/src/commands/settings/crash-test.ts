import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CrashTestReport } from "@tandem/crash-test";
import { TandemError } from "@tandem/protocol";
import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { toLimit, toPort } from "../../number-options.ts";
import { Progress } from "../../progress.ts";
import { styleFor, writeResult } from "../../terminal.ts";
import { listOption, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("[command...]", "starts the server, after `--`; {port}, {state}, {folder} and {model_url} are replaced")
      .option("--url <url>", "test a running server instead, with faults of the network only")
      .option("--faults <number>", "how many faults", "100")
      .option("--seed <number>", "repeats the order of faults and work of another run (default: random)")
      .addOption(listOption("--only <faults>", "only these faults, such as kill,pause,lost-answer"))
      .addOption(listOption("--work <kinds>", "only this work: talk, tool, approval, custom, interrupt"))
      .option("--sessions <number>", "sessions at the same time", "3")
      .option(
        "--api-key <key>",
        "key of the server's clients: env:NAME, file:PATH or the key (default: sk-ant-crash-test)",
      )
      .option("--health <path>", "path that answers 2xx when the server is ready", "/v1/agents")
      .option("--environment <id>", "environment of the sessions (default: a new one)")
      .option("--agent-process <text>", "part of the command line of the agent's processes, for kill-child", "claude")
      .option("--model-port <number>", "port of the scripted model (default: a free one)")
      .option("--patience <seconds>", "after this time without progress, a session is stuck (default: measured)")
      .option("--report <file>", "also write the report as Markdown")
      .addOption(json())
      .action(runner(crashTest)),
    "tandem crash-test -- node server.js --port {port}",
    "tandem crash-test --faults 500 --only kill,pause -- ./run-server",
    "tandem crash-test --url http://127.0.0.1:8080 --model-port 4010 --api-key env:SERVER_KEY",
  );
}

interface CrashTestCommandOptions {
  url?: string;
  faults: string;
  seed?: string;
  only?: string[];
  work?: string[];
  sessions: string;
  apiKey?: string;
  health: string;
  environment?: string;
  agentProcess: string;
  modelPort?: string;
  patience?: string;
  report?: string;
}

const STOP_MS = 30_000;
const SEEDS = 1_000_000;

async function crashTest(invocation: Invocation, words: string[], options: CrashTestCommandOptions): Promise<number> {
  const { cwd, signal, allowToStop } = invocation;
  const { FAULT_KINDS, ORDER_KINDS, renderMarkdown, renderText, runCrashTest } = await import("@tandem/crash-test");
  const only = options.only?.map((kind) => known("--only", kind, FAULT_KINDS));
  const work = options.work?.map((kind) => known("--work", kind, ORDER_KINDS));
  const seed = options.seed === undefined ? Math.floor(Math.random() * SEEDS) : toLimit("--seed", options.seed);
  const createSystem = await systemOf(invocation, words, options);
  allowToStop(STOP_MS);
  const report = await withProgress(invocation, (onProgress) =>
    runCrashTest({
      name: options.url ?? words.join(" "),
      createSystem,
      faults: toLimit("--faults", options.faults),
      seed,
      sessions: toLimit("--sessions", options.sessions),
      signal,
      onProgress,
      ...(only && { only }),
      ...(work && { work }),
      ...(options.patience !== undefined && { patienceMs: 1_000 * toLimit("--patience", options.patience) }),
      ...(options.modelPort !== undefined && { modelPort: toPort(options.modelPort) }),
    }),
  );
  const called = `tandem crash-test --faults ${options.faults} --seed ${seed}`;
  if (options.report !== undefined) await writeFile(resolve(cwd, options.report), renderMarkdown([report], called));
  await writeResult(invocation, report, [...renderText(report), ...verdict(invocation, report, called)]);
  return report.violations.length > 0 ? 1 : 0;
}

async function systemOf(
  { env, cwd }: Invocation,
  words: readonly string[],
  { url, apiKey, environment, health, agentProcess }: CrashTestCommandOptions,
) {
  const { commandSystem, urlSystem } = await import("@tandem/crash-test");
  const shared = { env, ...(apiKey !== undefined && { apiKey }), ...(environment !== undefined && { environment }) };
  const [program, ...args] = words;
  if ((url === undefined) === (program === undefined)) {
    throw new TandemError("usage", "The crash test needs a command after `--`, or --url.", {
      fix: "Call it like this: tandem crash-test -- node server.js --port {port}",
    });
  }
  if (url !== undefined) return urlSystem({ ...shared, url });
  const childPattern = new RegExp(agentProcess.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), "i");
  return commandSystem({ ...shared, command: [program ?? "", ...args], cwd, health, childPattern });
}

type OnProgress = (progress: { done: number; total: number; violations: number; last: string }) => void;

async function withProgress(
  invocation: Invocation,
  run: (onProgress: OnProgress) => Promise<CrashTestReport>,
): Promise<CrashTestReport> {
  using progress = new Progress(invocation, "Starting the server, then one turn of each kind without faults");
  return run(({ done, total, violations, last }) => {
    const found = violations === 1 ? "1 violation" : `${violations} violations`;
    progress.step(`${done} of ${total} faults, ${found}; last: ${last}`, { stage: "faults", done, total });
  });
}

function verdict({ stdout }: Invocation, { violations }: CrashTestReport, called: string): string[] {
  const { good, bad, dim } = styleFor(stdout);
  if (violations.length === 0) return [good("No violation.")];
  return [bad("The server broke its promises."), dim(`Run it again with the same faults: ${called} …`)];
}

function known<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new TandemError("usage", `${option} has the unknown value ${JSON.stringify(value)}.`, {
    fix: `Choose from ${choices.join(", ")}.`,
  });
}
