import { type Connection, ConnectionError } from "@tandem/connectors";
import type { Config } from "@tandem/protocol";
import { findRelationships, type Relationship } from "@tandem/relationships";
import type { LlmRuntime } from "@tandem/runtime";
import type { Run } from "../runs/job-run.ts";
import { type ScannedTable } from "./scanned-table.ts";
import { shownToModels } from "./shown-to-models.ts";
import { suggestJoins } from "./suggest-joins.ts";

const STAGE = "relationships";

export interface FoundJoins {
  /** Accepted, for review and rejected. */
  relationships: readonly Relationship[];
  /** Everything was checked: joins not listed do not exist. */
  isComplete: boolean;
  /** The same for joins that a model suggests. */
  isModelComplete: boolean;
}

/** Finds joins by names and data first, then checks a model's suggestions for the rest in the same way. */
export async function findJoins(
  run: Run,
  tables: readonly ScannedTable[],
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
    const { relationships, unanswered } = await findRelationships({
      connection,
      tables: tables.map(({ table }) => table),
      profiles: tables.flatMap(({ profile }) => profile ?? []),
      ...(llm && config.modelJoins && { suggest: (found) => suggest(found, llm) }),
      options: { queryTimeoutMs: config.queryDeadline, concurrency: config.concurrency },
      signal: run.signal,
      onProgress: (item) => run.emit({ type: "stage_progress", stage: STAGE, done: 0, total: null, item }),
    });
    const count = (test: (relationship: Relationship) => boolean) => relationships.filter(test).length;
    run.emit({
      type: "stage_finished",
      stage: STAGE,
      counts: {
        accepted: count(({ status }) => status === "accepted"),
        review: count(({ status }) => status === "review"),
        suggested,
        unanswered,
      },
    });
    return { relationships, isComplete: unanswered === 0, isModelComplete };
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof ConnectionError)) throw error;
    run.skip(STAGE, name, error);
    return undefined;
  }
}
