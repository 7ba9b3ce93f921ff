import { inParallel, type LlmError, TandemError } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import { z } from "zod";
import type { Run } from "../runs/job-run.ts";
import { ModelCalls } from "../runs/model-calls.ts";
import { inBatches } from "../runs/in-batches.ts";
import {
  descriptionAnswer,
  DESCRIPTION_PROMPT_VERSION,
  descriptionPrompt,
  DESCRIPTION_SYSTEM,
} from "./description-prompt.ts";
import { descriptionLimits, type Portion, type PortionLimits, portionSize, portionsOf } from "./portion.ts";
import { readDescriptions, type TableDescription } from "./read-descriptions.ts";
import { CALLS_AT_ONCE, SCAN_ROLE } from "./scan-calls.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";
import { stepTogether } from "../runs/step-together.ts";

const STAGE = "descriptions";

/** Retries use smaller batches: a too large or spoilt batch may work in parts. */
const SECOND_ROUND_SHARE = 4;

export interface Described {
  /** By `tableKey`. Missing descriptions are omitted. */
  descriptions: ReadonlyMap<string, TableDescription>;
  /** Tables: newly described, cached, incomplete. `unknown`: entries that were not requested. */
  counts: { described: number; cached: number; incomplete: number; unknown: number };
}

const stored = z.object({ table: z.string().min(1), columns: z.array(z.tuple([z.string(), z.string().min(1)])) });

/**
 * Lets a model describe tables with all their columns. Results are cached per table, and only missing tables are
 * batched: a changed table does not affect its neighbours.
 */
export async function describeTables(
  run: Run,
  llm: LlmRuntime,
  tables: readonly ScannedTable[],
  { connection, tablesPerCall }: { connection: string; tablesPerCall: number },
): Promise<Described> {
  const describer = new Describer(run, llm, tables);
  run.emit({ type: "stage_started", stage: STAGE, total: tables.length });
  await stepTogether(run, {
    kind: "description",
    schema: stored,
    items: tables,
    inputsOf: ({ table }) => inputsOf(run.modelOf(SCAN_ROLE), connection, table),
    onStored: (scanned, { table, columns }) => describer.recall(scanned, { table, columns: new Map(columns) }),
    compute: (missing, keep) =>
      describer.describe(missing, descriptionLimits(tablesPerCall), (scanned, { table, columns }) =>
        keep(scanned, { table, columns: [...columns] }),
      ),
  });
  const { known: descriptions, counts } = describer;
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return { descriptions, counts };
}

/**
 * Excludes rows: a table's meaning does not change with its data. Samples only illustrate the prompt, and change daily.
 */
function inputsOf(model: string, connection: string, table: ScannedTable["table"]): unknown {
  const { schema, name, type, comment, columns, primaryKey, foreignKeys } = table;
  return {
    prompt: DESCRIPTION_PROMPT_VERSION,
    model,
    connection,
    table: { schema, name, type, comment, primaryKey, foreignKeys },
    columns: columns.map(({ name, type, comment }) => ({ name, type, comment })),
  };
}

/** Requests until everything is described, or was requested twice. */
class Describer {
  readonly known: Map<string, TableDescription>;
  readonly counts = { described: 0, cached: 0, incomplete: 0, unknown: 0 };
  readonly #run: Run;
  readonly #asking: ModelCalls;
  readonly #total: number;
  /** Error of the last call about a table; undefined if it was answered. */
  readonly #errors = new Map<ScannedTable, LlmError | undefined>();

  constructor(run: Run, llm: LlmRuntime, tables: readonly ScannedTable[]) {
    this.#run = run;
    this.#asking = new ModelCalls(run, SCAN_ROLE, llm);
    this.#total = tables.length;
    this.known = new Map(tables.map(({ table }) => [tableKey(table), { table: "", columns: new Map() }]));
  }

  recall(scanned: ScannedTable, description: TableDescription): void {
    this.known.set(tableKey(scanned.table), description);
    this.counts.cached += 1;
    this.#tell(scanned);
  }

  async describe(
    tables: readonly ScannedTable[],
    limits: PortionLimits,
    keep: (scanned: ScannedTable, description: TableDescription) => void,
  ): Promise<void> {
    let rest = tables;
    for (const share of [1, SECOND_ROUND_SHARE]) {
      const portions = rest.flatMap((scanned) => portionsOf(scanned, this.#missing(scanned)));
      await inParallel(inBatches(portions, shareOf(limits, share), portionSize), CALLS_AT_ONCE, async (batch) => {
        await this.#ask(batch);
        for (const scanned of new Set(batch.map((portion) => portion.scanned))) {
          if (!this.#isComplete(scanned)) continue;
          keep(scanned, this.#of(scanned));
          this.counts.described += 1;
          this.#tell(scanned);
        }
      });
      rest = rest.filter((scanned) => !this.#isComplete(scanned));
    }
    for (const scanned of rest) {
      this.counts.incomplete += 1;
      this.#run.skip(STAGE, tableLabel(scanned.table), this.#whyIncomplete(scanned));
    }
  }

  async #ask(batch: readonly Portion[]): Promise<void> {
    this.#tell(batch[0]!.scanned);
    const result = await this.#asking.object({
      system: DESCRIPTION_SYSTEM,
      prompt: descriptionPrompt(batch),
      schema: descriptionAnswer,
    });
    if ("answer" in result) this.counts.unknown += readDescriptions(result.answer, batch, this.known);
    for (const { scanned } of batch) this.#errors.set(scanned, "error" in result ? result.error : undefined);
  }

  #whyIncomplete(scanned: ScannedTable): TandemError {
    const error = this.#errors.get(scanned);
    if (error) return error;
    const { table, columns } = this.#missing(scanned);
    const what = [...(table ? ["the table"] : []), ...columns].join(", ");
    return new TandemError("incomplete_answer", `The model left out ${what}.`, { fix: "Scan again to ask once more." });
  }

  #of({ table }: ScannedTable): TableDescription {
    return this.known.get(tableKey(table))!;
  }

  #missing(scanned: ScannedTable) {
    const { table, columns } = this.#of(scanned);
    const names = scanned.table.columns.map(({ name }) => name).filter((name) => !columns.has(name));
    return { table: table === "", columns: new Set(names) };
  }

  #isComplete(scanned: ScannedTable): boolean {
    const { table, columns } = this.#missing(scanned);
    return !table && columns.size === 0;
  }

  #tell({ table }: ScannedTable): void {
    const done = this.counts.described + this.counts.cached;
    this.#run.emit({ type: "stage_progress", stage: STAGE, done, total: this.#total, item: tableLabel(table) });
  }
}

const shareOf = (limits: PortionLimits, share: number): PortionLimits => ({
  items: Math.max(1, Math.floor(limits.items / share)),
  characters: limits.characters / share,
  columns: limits.columns / share,
});
