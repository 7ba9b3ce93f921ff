import type { EvalChecks, EvalTally } from "@tandem/protocol";
import { TandemError } from "@tandem/protocol";
import { z } from "zod";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { foundPath } from "../tools/join-tool.ts";
import { findValues } from "../values/find-values.ts";
import { compareRows } from "./compare-rows.ts";
import type { EvalDatabases } from "./eval-databases.ts";
import type { AskedQuestion } from "./load-evals.ts";

/** Hits that a search for a question may need. */
const SHOWN = 10;

export interface CheckParts {
  tools: (asOf: string | undefined) => readonly ContextTool[];
  catalogue: CatalogueReader;
  databases: EvalDatabases;
  signal: AbortSignal;
  onChecked: (done: number) => void;
}

/** The parts of an eval that need no model: gold statements, retrieval, values and join paths. */
export async function checkEvals(questions: readonly AskedQuestion[], parts: CheckParts): Promise<EvalChecks> {
  const checks: EvalChecks = {
    gold: tally(),
    finds: tally(),
    values: tally(),
    joins: tally(),
    perturbed: tally(),
    discriminating: 0,
  };
  for (const [index, asked] of questions.entries()) {
    parts.signal.throwIfAborted();
    await checkGold(asked, parts, checks);
    await checkFinds(asked, parts, checks.finds);
    await checkValues(asked, parts, checks.values);
    await checkJoins(asked, parts, checks.joins);
    parts.onChecked(index + 1);
  }
  return checks;
}

async function checkGold(asked: AskedQuestion, parts: CheckParts, checks: EvalChecks): Promise<void> {
  const { file, question } = asked;
  const { expect, verdict } = question;
  const ran = await parts.databases.gold(asked, parts.tools(file.asOf));
  if (!ran) return;
  if (ran.error !== undefined) return count(checks.gold, asked, `The gold answer cannot be used: ${ran.error}`);
  if (expect.kind !== "sql") return count(checks.gold, asked);
  if (verdict !== undefined) {
    const judged = await parts.databases.judge(parts.catalogue, file.connection, expect.sql, { measures: true });
    if (judged.verdict !== verdict) {
      const why = judged.reason ?? judged.parts[0]?.message ?? "";
      return count(checks.gold, asked, `The gold statement is ${judged.verdict}, not ${verdict}. ${why}`.trim());
    }
  }
  count(checks.gold, asked);
  const copy = await parts.databases.perturbedSql(file, expect.sql);
  if (!copy) return;
  count(checks.perturbed, asked, copy.error);
  if (copy.rows && !compareRows(ran.rows, copy.rows, question.compare).equal) checks.discriminating += 1;
}

const searchAnswer = z.object({
  hits: z.array(z.object({ key: z.string(), also: z.array(z.object({ key: z.string() })).optional() })),
  related: z.array(z.object({ key: z.string() })).optional(),
});

async function checkFinds(asked: AskedQuestion, parts: CheckParts, finds: EvalTally): Promise<void> {
  const { file, question } = asked;
  const tool = parts.tools(file.asOf).find(({ name }) => name === "context_search");
  if (question.finds.length === 0 || !tool) return;
  const { structured } = await tool.run(
    { query: question.ask.slice(0, 2_000), limit: SHOWN },
    { signal: parts.signal, by: "evals" },
  );
  const { hits, related = [] } = searchAnswer.parse(structured);
  const keys = [
    ...hits.flatMap(({ key, also = [] }) => [key, ...also.map((each) => each.key)]),
    ...related.map(({ key }) => key),
  ];
  for (const wanted of question.finds)
    count(finds, asked, keys.some((key) => isAbout(key, wanted)) ? undefined : wanted);
}

/** A hit on a column or a value leads to its table. */
function isAbout(key: string, wanted: string): boolean {
  if (key === wanted) return true;
  if (!wanted.startsWith("table:")) return false;
  const table = wanted.slice("table:".length);
  return key.startsWith(`column:${table}.`) || key.startsWith(`value:${table}.`);
}

async function checkValues(asked: AskedQuestion, parts: CheckParts, values: EvalTally): Promise<void> {
  const { file, question } = asked;
  for (const { value, column } of question.values) {
    const { found } = await findValues(parts.catalogue, [value], file.connection);
    const places = found.map((each) => `${each.table}.${each.column}`.toLowerCase());
    const wanted = column.toLowerCase();
    const isFound = places.some((place) => place === wanted || place.endsWith(`.${wanted}`));
    count(values, asked, isFound ? undefined : `${value} in ${column}`);
  }
}

async function checkJoins(asked: AskedQuestion, parts: CheckParts, joins: EvalTally): Promise<void> {
  const { file, question } = asked;
  const tool = parts.tools(file.asOf).find(({ name }) => name === "join_path");
  if (!tool) return;
  for (const path of question.joins) {
    const ends = { from: path[0]!, to: path.at(-1)!, connection: file.connection };
    try {
      const { structured } = await tool.run(ends, { signal: parts.signal, by: "evals" });
      const { steps, choices } = foundPath.parse(structured);
      // Several ways that are as good are offered with their names; the agent chooses by the question.
      const ways = steps.length > 0 ? [steps] : choices.map((choice) => choice.steps);
      const isFound = ways.some((way) => isSamePath([way[0]?.from ?? "", ...way.map(({ to }) => to)], path));
      count(joins, asked, isFound ? undefined : path.join(" → "));
    } catch (error) {
      if (!(error instanceof TandemError) || parts.signal.aborted) throw error;
      count(joins, asked, `${path.join(" → ")}: ${error.message}`);
    }
  }
}

const isSamePath = (found: readonly string[], wanted: readonly string[]): boolean =>
  found.length === wanted.length &&
  found.every((table, index) => {
    const [full, short] = [table.toLowerCase(), wanted[index]!.toLowerCase()];
    return full === short || full.endsWith(`.${short}`);
  });

const tally = (): EvalTally => ({ wanted: 0, found: 0, missed: [] });

function count(tally: EvalTally, { path, question }: AskedQuestion, missing?: string): void {
  tally.wanted += 1;
  if (missing === undefined) tally.found += 1;
  else tally.missed.push({ file: path, question: question.id, message: missing });
}
