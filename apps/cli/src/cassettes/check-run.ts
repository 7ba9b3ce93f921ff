import { readFile, lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Cassette, CassetteStepOf } from "@tandem/protocol";
import type { CassetteCase, FileAssertion, TextPattern, ToolAssertion } from "./cassette-case.ts";

/** Checks the assertions on the steps and the cost of a run. Returns a sentence per failure. */
export function checkSteps({ steps, header }: Cassette, test: CassetteCase): string[] {
  const calls = steps.filter((step) => step.kind === "call");
  const failures = test.tools.flatMap((assertion) => checkTool(calls, assertion));
  if (test.approvals !== undefined) failures.push(...checkApprovals(calls, test.approvals));
  if (test.cost_below !== undefined && header.usd >= test.cost_below) {
    failures.push(`The run cost $${header.usd}, not less than $${test.cost_below}.`);
  }
  if (test.answer) {
    const answer = lastAnswer(steps);
    if (!test.answer.matches(answer)) {
      failures.push(`The answer does not match ${quoted(test.answer)}. It is: ${shorten(answer)}`);
    }
  }
  return failures;
}

function checkTool(calls: readonly CassetteStepOf<"call">[], assertion: ToolAssertion): string[] {
  const name = "called" in assertion ? assertion.called : assertion.not_called;
  const found = calls.find((call) => call.tool === name && isInput(call.input, assertion.input));
  const what = assertion.input === undefined ? name : `${name} with ${describeInput(assertion.input)}`;
  if ("called" in assertion) {
    if (found) return [];
    const others = calls.filter(({ tool }) => tool === name).map((call) => shorten(JSON.stringify(call.input)));
    const seen = others.length > 0 ? ` It was called with ${others.slice(0, 3).join(", ")}.` : "";
    return [`The tool ${what} was not called.${seen}`];
  }
  return found ? [`The tool ${what} was called in step ${found.step}.`] : [];
}

function isInput(input: Readonly<Record<string, unknown>>, wanted: ToolAssertion["input"]): boolean {
  if (wanted === undefined) return true;
  if (isPattern(wanted)) return textsIn(input).some((text) => wanted.matches(text));
  return Object.entries(wanted).every(([key, pattern]) => textsIn(input[key]).some((text) => pattern.matches(text)));
}

const isPattern = (value: TextPattern | Record<string, TextPattern>): value is TextPattern =>
  typeof value["matches"] === "function";

const describeInput = (wanted: NonNullable<ToolAssertion["input"]>): string =>
  isPattern(wanted)
    ? quoted(wanted)
    : Object.entries(wanted)
        .map(([key, pattern]) => `${key} ${quoted(pattern)}`)
        .join(", ");

/** The texts within a JSON value; numbers and booleans as their text. */
function textsIn(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === "object") return Object.values(value).flatMap(textsIn);
  return [typeof value === "string" ? value : JSON.stringify(value)];
}

function checkApprovals(
  calls: readonly CassetteStepOf<"call">[],
  wanted: NonNullable<CassetteCase["approvals"]>,
): string[] {
  const asked = calls.filter(({ permission }) => permission === "ask");
  if (wanted === "asked") return asked.length > 0 ? [] : ["No call asked for an approval."];
  if (wanted === "none") {
    return asked.slice(0, 1).map(({ tool, step }) => `The tool ${tool} asked for an approval in step ${step}.`);
  }
  return wanted
    .filter((name) => !asked.some(({ tool }) => tool === name))
    .map((name) => `The tool ${name} did not ask for an approval.`);
}

/** The text of the last complete answer that has one. */
function lastAnswer(steps: Cassette["steps"]): string {
  const texts = steps.flatMap((step) => {
    if (step.kind !== "model" || step.answer?.type !== "message") return [];
    const blocks = step.answer.content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
    return blocks.length > 0 ? [blocks.join("\n\n")] : [];
  });
  return texts.at(-1) ?? "";
}

/** Checks the files of a folder. */
export async function checkFiles(folder: string, assertions: readonly FileAssertion[]): Promise<string[]> {
  const failures = await Promise.all(assertions.map((assertion) => checkFile(folder, assertion)));
  return failures.filter((failure) => failure !== undefined);
}

async function checkFile(folder: string, assertion: FileAssertion): Promise<string | undefined> {
  const { path } = assertion;
  const full = join(folder, path);
  const found = await lstat(full).catch(() => undefined);
  if ("absent" in assertion) return found ? `The file ${path} exists.` : undefined;
  if (!found) return `The file ${path} does not exist.`;
  if (!assertion.contains) return undefined;
  if (!found.isFile()) return `${path} is not a regular file.`;
  const text = await readFile(full, "utf8");
  return assertion.contains.matches(text)
    ? undefined
    : `The file ${path} does not contain ${quoted(assertion.contains)}. It has: ${shorten(text)}`;
}

const quoted = ({ source }: TextPattern): string => (source.startsWith("/") ? source : JSON.stringify(source));

const MAX_SHOWN = 200;
const shorten = (text: string): string =>
  text.length > MAX_SHOWN ? `${JSON.stringify(text.slice(0, MAX_SHOWN))}…` : JSON.stringify(text);
