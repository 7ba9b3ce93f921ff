import { referencesOf } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import type { MetricEntry, MetricsFile } from "../model/metrics-file.ts";
import { type Draft, type DraftEntity, itemName, type Section } from "./draft-file.ts";
import type { MergedFile } from "./merge-file.ts";

interface Part {
  readonly entity: DraftEntity;
  readonly section: Section;
  readonly name: string;
}

/**
 * Removes drafts whose names the context uses for other definitions, and drafts that depend on them: those would silently
 * be computed from the context's definition.
 */
export function removeConflicts(
  draft: Draft,
  existing: readonly MetricsFile[],
  merge: (entity: DraftEntity) => MergedFile,
): void {
  const removed: Part[] = [];
  for (const entity of draft.entities) {
    for (const { section, name, reason } of merge(entity).kept) {
      if (reason !== "not imported") continue;
      drop({ entity, section, name }, "The context has another definition of this name. That definition is kept.");
    }
    for (const name of Object.keys(entity.file.metrics)) {
      const other = existing.find((file) => file.entity !== entity.file.entity && file.metrics?.[name]);
      if (!other) continue;
      drop({ entity, section: "metrics", name }, `The file of ${other.entity} already defines a metric ${name}.`);
    }
  }
  for (let part = removed.shift(); part; part = removed.shift()) {
    for (const dependent of dependents(part)) {
      drop(dependent, `It needs ${part.name}, which the context defines otherwise.`);
    }
  }

  function drop({ entity, section, name }: Part, reason: string): void {
    if (!(name in entity.file[section])) return;
    delete entity.file[section][name];
    removed.push({ entity, section, name });
    const at = entity.sources.get(`${section}.${name}`) ?? entity.source;
    draft.leaveOut(at, itemName(section, name), reason, "Rename one of them, or make them equal.");
  }

  function dependents({ entity, section, name }: Part): Part[] {
    if (section === "dimensions") {
      return Object.entries(entity.file.measures)
        .filter(([, { time }]) => (time ?? entity.file.time) === name)
        .map(([measure]) => ({ entity, section: "measures", name: measure }));
    }
    return draft.entities.flatMap((other) =>
      Object.entries(other.file.metrics)
        .filter(([, entry]) =>
          section === "measures"
            ? other === entity && "measure" in entry && entry.measure === name
            : section === "metrics" && usedBy(entry).includes(name),
        )
        .map(([metric]): Part => ({ entity: other, section: "metrics", name: metric })),
    );
  }
}

/** The metrics that a metric names. */
function usedBy(entry: MetricEntry): string[] {
  if ("ratio" in entry) return entry.ratio;
  if ("cumulative" in entry) return [entry.cumulative];
  if (!("derived" in entry)) return [];
  const inputs = Object.values(entry.with ?? {}).map(({ metric }) => metric);
  return [...inputs, ...referencesOf(parseExpression(entry.derived)).map(({ name }) => name)];
}
