import type { EvalTrial, VerdictKind } from "@tandem/protocol";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { ContextTool } from "../context-tool.ts";
import { compareRows } from "./compare-rows.ts";
import type { EvalAnswer } from "./eval-answer.ts";
import type { EvalDatabases, Ran } from "./eval-databases.ts";
import type { AskedQuestion } from "./load-evals.ts";

export interface GradeParts {
  databases: EvalDatabases;
  catalogue: CatalogueReader;
  tools: readonly ContextTool[];
}

export type Grade = Pick<EvalTrial, "outcome" | "passed" | "reason" | "answer" | "verdict">;

/** Marks the answer of one trial. Statements are run again, so that a changed database changes the mark. */
export async function gradeAnswer(asked: AskedQuestion, answer: EvalAnswer | null, parts: GradeParts): Promise<Grade> {
  const { kind } = asked.question.expect;
  if (answer === null) return fail("failed", "The agent ended without an answer.", null);
  if (answer.kind === "abstain" || answer.kind === "clarify") {
    const words = answer.kind === "abstain" ? answer.reason : answer.question;
    const outcome = answer.kind === "abstain" ? "abstained" : "clarified";
    if (kind === answer.kind) return { outcome, passed: true, reason: null, answer: words, verdict: null };
    return fail(outcome, `${outcome} instead of ${expectedWord(kind)}`, words);
  }
  const shown = answer.kind === "sql" ? answer.sql : JSON.stringify(answer.metric);
  if (kind === "abstain" || kind === "clarify")
    return fail("wrong", `answered instead of ${expectedWord(kind)}`, shown);
  return await gradeRows(asked, answer, shown, parts);
}

async function gradeRows(
  asked: AskedQuestion,
  answer: Extract<EvalAnswer, { kind: "sql" | "metric" }>,
  shown: string,
  parts: GradeParts,
): Promise<Grade> {
  const { file, question } = asked;
  const { databases } = parts;
  const gold = await databases.gold(asked, parts.tools);
  if (!gold?.rows) return fail("failed", `The gold answer cannot be used: ${gold?.error ?? "there is none"}`, shown);
  const ran =
    answer.kind === "sql"
      ? await databases.sql(file.connection, answer.sql)
      : await databases.metric(file.connection, answer.metric, parts.tools);
  if (ran.error !== undefined) return fail("failed", `The statement does not run: ${ran.error}`, shown);
  const verdict = answer.kind === "sql" ? await verdictOn(asked, answer.sql, parts) : null;
  const compared = compareRows(gold.rows, ran.rows, question.compare);
  if (!compared.equal) return fail("wrong", `Other rows: ${compared.reason}.`, shown, verdict);
  // A statement that cannot be judged is not held against the agent: its rows are right.
  const isUnsound = verdict !== null && verdict !== "not_judged" && verdict !== question.verdict;
  if (question.verdict !== undefined && isUnsound) {
    return fail(
      "failed",
      `The rows are right, but the statement is ${verdict}, not ${question.verdict}.`,
      shown,
      verdict,
    );
  }
  const accident = answer.kind === "sql" ? await accidentIn(asked, answer.sql, databases) : undefined;
  if (accident !== undefined) return fail("wrong", accident, shown, verdict);
  return { outcome: "correct", passed: true, reason: null, answer: shown, verdict };
}

async function verdictOn({ file, question }: AskedQuestion, sql: string, parts: GradeParts): Promise<VerdictKind> {
  const measures = question.verdict !== undefined;
  return (await parts.databases.judge(parts.catalogue, file.connection, sql, { measures })).verdict;
}

/** Why a statement with the right rows is right by accident; undefined if it is not, or if there is no copy. */
async function accidentIn({ file, question }: AskedQuestion, sql: string, databases: EvalDatabases) {
  if (question.expect.kind !== "sql") return undefined;
  const gold: Ran | undefined = await databases.perturbedSql(file, question.expect.sql);
  if (!gold?.rows) return undefined;
  const ran = await databases.perturbedSql(file, sql);
  const reason =
    ran?.rows === undefined ? ran?.error : whyDifferent(compareRows(gold.rows, ran.rows, question.compare));
  return reason === undefined ? undefined : `Right by accident: on the copy with other rows, ${reason}.`;
}

const whyDifferent = (compared: ReturnType<typeof compareRows>): string | undefined =>
  compared.equal ? undefined : compared.reason;

const fail = (
  outcome: Grade["outcome"],
  reason: string,
  answer: string | null,
  verdict: VerdictKind | null = null,
): Grade => ({ outcome, passed: false, reason, answer, verdict });

const expectedWord = (kind: AskedQuestion["question"]["expect"]["kind"]): string =>
  kind === "abstain" ? "abstaining" : kind === "clarify" ? "asking back" : "answering";
