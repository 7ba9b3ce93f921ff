import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  formatCassette,
  RULE_ACTIONS,
  TandemError,
  type ComparisonReport,
  type MessagesProxy,
  type Rule,
  type RunSummary,
} from "@tandem/protocol";
import { Option, type Command } from "commander";
import { compareCassettes } from "../../cassettes/compare-cassettes.ts";
import { readCassette } from "../../cassettes/read-cassette.ts";
import type { Invocation } from "../../invocation.ts";
import { toLimit } from "../../number-options.ts";
import { readRule } from "../../rules/read-rule.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { clip, printable, styleFor, table, write, writeJson, writeResult } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

interface ForkOptions {
  step: string;
  output: string;
  prompt?: string;
  model?: string;
  result?: string;
  allow?: boolean;
  deny?: boolean;
  rule?: string;
  script?: string;
  live?: boolean;
  realTools?: boolean;
}

export function registerFork(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("fork", "Run a cassette again with one step changed, into a new cassette.")
      .argument("<file>", "cassette")
      .requiredOption("--step <n>", "number of the step that changes")
      .requiredOption("-o, --output <file>", "new private file")
      .option("--prompt <text>", "the message of this step")
      .option("--model <model>", "the model of this message and of the answers after it")
      .option("--result <text>", "the result of this call; @FILE reads a file")
      .addOption(new Option("--allow", "approve this call").conflicts("deny"))
      .option("--deny", "deny this call")
      .option("--rule <rule>", 'rule for this session, such as "deny Bash(git push *)"')
      .option("--script <file>", "answers of the model after this step (default: the recorded ones)")
      .addOption(
        new Option("--live", "ask the real model after this step; needs an API key and costs money")
          .conflicts("script")
          .implies({ realTools: true }),
      )
      .option("--real-tools", "run real Claude Code and real tools in a scratch folder")
      .addOption(json())
      .action(runner(fork)),
    'tandem cassettes fork login.jsonl --step 3 --result "2 failed" -o failing.jsonl',
    'tandem cassettes fork login.jsonl --step 1 --prompt "Only read." --script answers.yaml -o reading.jsonl',
    'tandem cassettes fork login.jsonl --step 4 --rule "deny Bash(npm publish)" -o denied.jsonl',
    "tandem cassettes fork login.jsonl --step 1 --model opus --live -o opus.jsonl",
  );
  examples(
    sub("compare", "Compare two cassettes: answers, tools, files, cost and time.")
      .argument("<a>", "cassette")
      .argument("<b>", "cassette")
      .addOption(new Option("--open", "show the result on the page of the running server").conflicts("json"))
      .addOption(json())
      .action(
        runner((invocation, a: string, b: string, options: { open?: boolean }) => compare(invocation, [a, b], options)),
      ),
    "tandem cassettes compare login.jsonl failing.jsonl",
    "tandem cassettes compare login.jsonl failing.jsonl --open",
  );
}

async function fork(invocation: Invocation, file: string, options: ForkOptions): Promise<void> {
  const { cwd, signal } = invocation;
  const { prompt, model, allow, deny } = options;
  const step = toLimit("--step", options.step);
  const recorded = await readCassette(resolve(cwd, file));
  const result = options.result === undefined ? undefined : await readText(options.result, cwd);
  const { forkCassette } = await import("@tandem/emulator");
  const script = options.script === undefined ? {} : { script: resolve(cwd, options.script) };
  const live = options.live ? { live: await openModel(invocation) } : {};
  const rule = options.rule === undefined ? undefined : toRule(options.rule);
  const run = await forkCassette(
    recorded,
    { step, prompt, model, result, rule, approval: allow ? "allow" : deny ? "deny" : undefined },
    { mode: options.realTools ? "real_tools" : "recorded", ...script, ...live, signal },
  );
  const output = resolve(cwd, options.output);
  await writeExport(formatCassette(run).trimEnd().split("\n"), output);
  await writeResult(invocation, { file: output, steps: run.steps.length, stop_reason: stopReason(run) }, [
    `${run.steps.length} steps in ${output}; the run ended with ${stopReason(run)}.`,
  ]);
}

/** The configured backend, as the Messages API. Refuses a Claude login, which only works in Claude Code. */
async function openModel(invocation: Invocation): Promise<MessagesProxy> {
  const [{ openProjectOrDefaults }, { createMessagesProxy }] = await Promise.all([
    import("@tandem/tandem/project"),
    import("@tandem/tandem/compose"),
  ]);
  return createMessagesProxy(invocation, await openProjectOrDefaults(invocation));
}

/** `deny Bash(git push *)` */
function toRule(text: string): Rule {
  const [, word = "", rest = ""] = /^(\w+)\s+(.+)$/.exec(text.trim()) ?? [];
  const action = RULE_ACTIONS.find((each) => each === word);
  if (action) return readRule(action, rest);
  throw new TandemError("usage", `${JSON.stringify(text)} is not a rule.`, {
    fix: `Begin with ${RULE_ACTIONS.join(", ")}: "deny Bash(git push *)".`,
  });
}

const stopReason = ({ steps }: Awaited<ReturnType<typeof readCassette>>): string => {
  const last = steps.at(-1);
  return last?.kind === "idle" ? last.stop_reason : "no idle status";
};

async function readText(value: string, cwd: string): Promise<string> {
  if (!value.startsWith("@")) return value;
  return readFile(resolve(cwd, value.slice(1)), "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new TandemError("usage", `Cannot read ${value.slice(1)}: ${cause.code}.`, {
      fix: "Give --result TEXT or --result @FILE.",
      cause,
    });
  });
}

async function compare(
  invocation: Invocation,
  names: [string, string],
  { open = false }: { open?: boolean },
): Promise<void> {
  const { stdout, cwd, json } = invocation;
  const [first, second] = await Promise.all(names.map((file) => readCassette(resolve(cwd, file))));
  const comparison = await compareCassettes(first!, second!, names);
  if (json) return writeJson(stdout, comparison);
  await write(stdout, `${describe(comparison, stdout).join("\n")}\n`);
  if (open) await (await import("../../cassettes/open-report.ts")).openReport(invocation, comparison);
}

const MAX_CELL = 48;
const cell = (text: string): string => clip(printable(text.replaceAll("\n", " ")), MAX_CELL);

function describe({ names, a, b, files }: ComparisonReport, stdout: Invocation["stdout"]): string[] {
  const { good, bad, accent } = styleFor(stdout);
  const rows = [["", "", ...names.map(cell)]];
  const row = (name: string, left: string, right: string): void =>
    void rows.push([left === right ? "=" : "≠", name, cell(left), cell(right)]);
  row("model", a.model, b.model);
  pairs(a.answers, b.answers).forEach(([left, right], index) => row(`answer ${index + 1}`, left, right));
  pairs(a.tools, b.tools).forEach(([left, right], index) => row(`call ${index + 1}`, left, right));
  pairs(a.results, b.results).forEach(([left, right], index) => row(`result ${index + 1}`, left, right));
  row("approvals", String(a.approvals), String(b.approvals));
  row("list price", price(a), price(b));
  row("tokens", String(a.tokens), String(b.tokens));
  row("time", time(a), time(b));
  const lines = table(rows);
  if (files === null) return [...lines, "The files cannot be compared: a cassette has no folder."];
  if (files === "") return [...lines, "The files after the last turn are the same."];
  const patch = files
    .trimEnd()
    .split("\n")
    .map((line) => {
      const clean = printable(line);
      if (line.startsWith("@@")) return accent(clean);
      return line.startsWith("+") ? good(clean) : line.startsWith("-") ? bad(clean) : clean;
    });
  return [...lines, "Files after the last turn:", ...patch];
}

const pairs = (a: readonly string[], b: readonly string[]): [string, string][] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [a[index] ?? "-", b[index] ?? "-"]);

const price = ({ usd }: RunSummary): string => (usd === null ? "unknown" : `$${usd}`);

const time = ({ duration_ms: ms }: RunSummary): string => (ms === null ? "-" : `${(ms / 1_000).toFixed(1)} s`);
