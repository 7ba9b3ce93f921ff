import { compileMetric } from "../describe/compile-metric.ts";
import { attempt, MetricError } from "../metric-error.ts";
import { buildModel } from "../build/build-model.ts";
import type { MetricsFile } from "../model/metrics-file.ts";
import type { BrokenDefinition, Model } from "../model/model.ts";
import { type Draft, type DraftEntity, itemName, type Section, SECTIONS } from "./draft-file.ts";

/** The files as they would be with the drafts. */
export type MergeAll = () => MetricsFile[];

/** Removes drafts that the model refuses or that do not compile, with the reason. */
export function gateDraft(draft: Draft, mergeAll: MergeAll): Model {
  for (;;) {
    const model = build(draft, mergeAll);
    const broken = model.broken.find((part) => isDrafted(draft, part));
    if (broken) {
      removeBroken(draft, broken, mergeAll);
      continue;
    }
    const refused = draft.entities
      .flatMap((entity) => Object.keys(entity.file.metrics).map((name) => ({ entity, name })))
      .flatMap((each) => {
        const error = attempt(() => compileMetric(model, each.name));
        return error instanceof MetricError ? [{ ...each, error }] : [];
      });
    if (refused.length === 0) return model;
    for (const { entity, name, error } of refused)
      removeDefinition(draft, entity, "metrics", name, error.message, error.fix);
  }
}

const build = ({ catalogue: { dialect, tables } }: Draft, mergeAll: MergeAll): Model =>
  buildModel({ dialect, tables, files: mergeAll() });

const isDrafted = (draft: Draft, { entity: name, name: part }: BrokenDefinition): boolean =>
  draft.entities.some(
    ({ file }) => file.entity === name && (part === undefined || SECTIONS.some((section) => part in file[section])),
  );

function removeBroken(draft: Draft, broken: BrokenDefinition, mergeAll: MergeAll): void {
  const entity = draft.entities.find(({ file }) => file.entity === broken.entity)!;
  const { name } = broken;
  if (name === undefined) {
    draft.entities.splice(draft.entities.indexOf(entity), 1);
    draft.leaveOut(entity.source, `entity ${entity.source.id}`, broken.message, broken.fix);
    for (const metric of Object.keys(entity.file.metrics)) {
      draft.leaveOut(
        entity.sources.get(`metrics.${metric}`) ?? entity.source,
        `metric ${metric}`,
        `Its entity ${broken.entity} was skipped.`,
      );
    }
    return;
  }
  const candidates = SECTIONS.filter((section) => name in entity.file[section]);
  // A measure and its metric can have one name. The broken one is the one without which the problem is gone.
  const section =
    candidates.find((each) => candidates.length > 1 && isCause(draft, entity, each, name, broken, mergeAll)) ??
    candidates[0]!;
  removeDefinition(draft, entity, section, name, broken.message, broken.fix);
}

function isCause(
  draft: Draft,
  entity: DraftEntity,
  section: Section,
  name: string,
  { message }: BrokenDefinition,
  mergeAll: MergeAll,
): boolean {
  const entries = entity.file[section];
  const entry = entries[name]!;
  delete entries[name];
  const model = build(draft, mergeAll);
  Object.assign(entries, { [name]: entry });
  return !model.broken.some((part) => part.name === name && part.message === message);
}

/** Leaves a definition out, with the reason. */
export function removeDefinition(
  draft: Draft,
  entity: DraftEntity,
  section: Section,
  name: string,
  reason: string,
  fix?: string,
): void {
  const at = entity.sources.get(`${section}.${name}`) ?? entity.source;
  const metric = section === "metrics" ? entity.file.metrics[name] : undefined;
  delete entity.file[section][name];
  draft.leaveOut(at, itemName(section, name), reason, fix);
  // A measure that was only written for this metric.
  if (metric && "measure" in metric && draft.project.format !== "dbt") {
    const isUsed = Object.values(entity.file.metrics).some(
      (other) => "measure" in other && other.measure === metric.measure,
    );
    if (!isUsed) delete entity.file.measures[metric.measure];
  }
}
