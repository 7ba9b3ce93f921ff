import type { EventId } from "@tandem/protocol";
import type { EventLog, SessionRow } from "@tandem/storage";
import type { CheckpointStores } from "@tandem/workspace";
import type { GradingTask } from "./grader.ts";
import type { Evidence } from "./grading-prompt.ts";

const LOOKED_AT = 1_000;

/** Collects what an agent has produced since the outcome was defined. */
export async function evidenceOf(
  { row, outcome }: GradingTask,
  { log, checkpointStores }: { log: EventLog; checkpointStores: CheckpointStores | undefined },
): Promise<Evidence> {
  const [last] = await log.read(row.id, { order: "desc", limit: 1, thread: null, types: ["agent.message"] });
  const answer =
    last?.event.type === "agent.message" && last.event.id > outcome.id
      ? last.event.content.map(({ text }) => text).join("\n")
      : undefined;
  // Without checkpoints the grader looks for itself.
  const changed = await changedSince(row, outcome.id, log, checkpointStores).catch(() => undefined);
  return { changed, answer };
}

async function changedSince(
  row: SessionRow,
  message: EventId,
  log: EventLog,
  checkpointStores: CheckpointStores | undefined,
): Promise<string[] | undefined> {
  if (!checkpointStores) return undefined;
  const marks = await log.read(row.id, { order: "desc", limit: LOOKED_AT, types: ["tandem.checkpoint"] });
  const first = marks.find(
    ({ event }) => event.type === "tandem.checkpoint" && event.when === "before" && event.message_id === message,
  )?.event;
  const [last] = marks;
  if (first?.type !== "tandem.checkpoint" || last?.event.type !== "tandem.checkpoint") return undefined;
  const store = await checkpointStores.of(row.folder);
  const from = await store.find(row.id, first.checkpoint_id);
  const to = await store.find(row.id, last.event.checkpoint_id);
  return from && to && (await store.changes(from, to)).map(({ path }) => path);
}
