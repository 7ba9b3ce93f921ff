import { type Connection, ConnectionError } from "@tandem/connectors";
import { type Config, TandemError } from "@tandem/protocol";
import { findRelationships, type NotCompared, type Relationship, type VerifiedKey } from "@tandem/relationships";
import type { LlmRuntime } from "@tandem/runtime";
import type { Run } from "../runs/job-run.ts";
import { messageWithoutValues } from "../privacy/message-without-values.ts";
import { isStorableJoin, type RestrictedTables, withheldJoin } from "../privacy/restrict-tables.ts";
import { type ScannedTable, tableKey, tableLabel } from "../privacy/scanned-table.ts";
import { shownToModels } from "./shown-to-models.ts";
import { suggestJoins } from "./suggest-joins.ts";

const STAGE = "relationships";

export interface FoundJoins {
  /** Accepted, for review and rejected. */
  relationships: readonly Relationship[];
  /** By `tableKey`. */
  compositeKeys: ReadonlyMap<string, readonly VerifiedKey[]>;
  /** Everything was checked: joins not listed do not exist. */
  isComplete: boolean;
  /** The same for joins that a model suggests. */
  isModelComplete: boolean;
}

/**
 * Finds joins by names and data first, then checks a model's suggestions for the rest in the same way. `profiled` has all
 * values, which are compared in memory; models see the restricted tables.
 */
export async function findJoins(
  run: Run,
  profiled: readonly ScannedTable[],
  { tables, mayStore }: Pick<RestrictedTables, "tables" | "mayStore">,
  { name, connection, config }: { name: string; connection: Connection; config: Config["scan"] },
): Promise<FoundJoins | undefined> {
  run.emit({ type: "stage_started", stage: STAGE, total: null });
  const { llm } = run;
  let suggested = 0;
  let isModelComplete = false;
  const suggest = async (found: readonly Relationship[], model: LlmRuntime) => {
    run.emit({ type: "stage_progress", stage: STAGE, done: 0, total: null, item: "asking the model" });
    const ofTables = shownToModels(tables).filter(({ table }) => table.type === "table");
    const { suggestions, failed } = await suggestJoins(run, model, ofTables, found, name);
    suggested = suggestions.length;
    isModelComplete = failed === 0;
    return suggestions;
  };
  try {
    const { pairs, queries, deadline } = config.joins;
    const {
      relationships: all,
      compositeKeys,
      notCompared,
    } = await findRelationships({
      connection,
      tables: profiled.map(({ table }) => table),
      profiles: profiled.flatMap(({ profile }) => profile ?? []),
      ...(llm && config.modelJoins && { suggest: (found) => suggest(found, llm) }),
      options: {
        queryTimeoutMs: config.queryDeadline,
        concurrency: config.concurrency,
        timeMs: deadline,
        ...(pairs !== undefined && { pairs }),
        ...(queries !== undefined && { queries }),
      },
      signal: run.signal,
      onProgress: ({ stage, done, total }) =>
        run.emit({ type: "stage_progress", stage: STAGE, done, total, item: stage }),
    });
    if (notCompared.pairs > 0) run.skip(STAGE, name, describeNotCompared(notCompared));
    const relationships = all.filter((each) => isStorableJoin(each, mayStore));
    for (const { from } of all.filter((each) => !isStorableJoin(each, mayStore))) {
      run.skip(STAGE, tableLabel(from.table), withheldJoin(tableLabel(from.table)));
    }
    const count = (test: (relationship: Relationship) => boolean) => relationships.filter(test).length;
    run.emit({
      type: "stage_finished",
      stage: STAGE,
      counts: {
        accepted: count(({ status }) => status === "accepted"),
        review: count(({ status }) => status === "review"),
        suggested,
        unanswered: notCompared.pairs,
      },
    });
    return {
      relationships,
      compositeKeys: Map.groupBy(compositeKeys, ({ table }) => tableKey(table)),
      isComplete: notCompared.pairs === 0,
      isModelComplete,
    };
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof ConnectionError)) throw error;
    const message = messageWithoutValues(
      error.message,
      tables.map(({ table }) => table),
    );
    run.skip(STAGE, name, new TandemError(error.code, message, { fix: error.fix }));
    return undefined;
  }
}

const TABLES_NAMED = 10;

function describeNotCompared({ pairs, tables, budgets }: NotCompared): TandemError {
  const names = tables.slice(0, TABLES_NAMED).map(tableLabel).join(", ");
  const more = tables.length > TABLES_NAMED ? ` and ${tables.length - TABLES_NAMED} more` : "";
  const keys = budgets.map((budget) => `scan.joins.${budget === "seconds" ? "deadline" : budget}`);
  const why = keys.length > 0 ? `The budget was used up: raise ${keys.join(" and ")}.` : "Their queries failed.";
  return new TandemError("not_compared", `${pairs} pairs of columns were not compared, of ${names}${more}. ${why}`);
}
