import { inParallel, LlmError } from "@tandem/protocol";
import type { Relationship, Suggestion } from "@tandem/relationships";
import type { LlmRuntime } from "@tandem/runtime";
import type { Run } from "../runs/job-run.ts";
import { ModelCalls } from "../runs/model-calls.ts";
import { inBatches } from "../runs/in-batches.ts";
import { CALLS_AT_ONCE, SCAN_ROLE } from "./scan-calls.ts";
import {
  joinAnswer,
  joinPrompt,
  JOIN_PROMPT_VERSION,
  JOIN_SYSTEM,
  type Question,
  renderQuestion,
} from "./join-prompt.ts";
import { JoinReader } from "./join-reader.ts";
import { JoinTargets } from "./join-targets.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";
import { linkedColumns, unlinkedColumns } from "./unlinked-columns.ts";

const STAGE = "relationships";
export const JOIN_LIMITS = { items: 40, characters: 24_000, columns: 400 };
const INDEX_CHARACTERS = 24_000;
const COLUMNS_PER_QUESTION = 100;

/**
 * Lets a model suggest joins for columns without one, for all tables in batches. Suggestions are worthless until
 * checked in the data.
 */
export async function suggestJoins(
  run: Run,
  llm: LlmRuntime,
  tables: readonly ScannedTable[],
  found: readonly Relationship[],
  connection: string,
): Promise<{ suggestions: readonly Suggestion[]; unknown: number; failed: number }> {
  const linked = linkedColumns(found);
  const questions = tables.flatMap((scanned) => {
    const columns = unlinkedColumns(scanned, linked);
    return Array.from({ length: Math.ceil(columns.length / COLUMNS_PER_QUESTION) }, (_, part) => ({
      scanned,
      columns: columns.slice(part * COLUMNS_PER_QUESTION, (part + 1) * COLUMNS_PER_QUESTION),
    }));
  });
  const references = new Map<string, number>();
  for (const { to } of found) references.set(tableKey(to.table), (references.get(tableKey(to.table)) ?? 0) + 1);
  const index = new JoinTargets(tables, references, INDEX_CHARACTERS);
  const asking = new ModelCalls(run, SCAN_ROLE, llm);
  const reader = new JoinReader(tables, found);
  let failed = 0;

  const ask = async (batch: readonly Question[], canHalve: boolean): Promise<void> => {
    const keys = index.linesFor(batch);
    if (keys.length === 0) return;
    const inputs = inputsOf(run.modelOf(SCAN_ROLE), connection, batch, keys);
    try {
      const answer = await run.step("joins", inputs, joinAnswer, async () => {
        const prompt = joinPrompt(batch, keys);
        const result = await asking.object({ system: JOIN_SYSTEM, prompt, schema: joinAnswer });
        if ("error" in result) throw result.error;
        return result.answer;
      });
      reader.read(answer);
    } catch (error) {
      run.signal.throwIfAborted();
      if (!(error instanceof LlmError)) throw error;
      if (canHalve && batch.length > 1 && !asking.stopped) {
        const middle = Math.ceil(batch.length / 2);
        await ask(batch.slice(0, middle), false);
        await ask(batch.slice(middle), false);
      } else {
        failed += batch.length;
        for (const { scanned } of batch) run.skip(STAGE, tableLabel(scanned.table), error);
      }
    }
  };
  await inParallel(inBatches(questions, JOIN_LIMITS, sizeOf), CALLS_AT_ONCE, (batch) => ask(batch, true));
  const { suggestions, unknown } = reader;
  return { suggestions, unknown, failed };
}

/** Excludes samples: they only illustrate, and change daily. */
function inputsOf(model: string, connection: string, batch: readonly Question[], keys: readonly string[]): unknown {
  return {
    prompt: JOIN_PROMPT_VERSION,
    model,
    connection,
    keys,
    tables: batch.map(({ scanned: { table }, columns }) => [
      table.schema,
      table.name,
      columns.map(({ name, type }) => [name, type]),
    ]),
  };
}

const sizeOf = (question: Question) => ({
  characters: renderQuestion(question).length,
  columns: question.columns.length,
});
