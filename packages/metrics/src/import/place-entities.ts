import { invalid, MetricError } from "../metric-error.ts";
import { type CataloguedJoin, type CataloguedTable, isUnique, tableText } from "../model/catalogued-table.ts";
import type { MetricsFile } from "../model/metrics-file.ts";
import { definedName, type Draft, type DraftEntity } from "./draft-file.ts";
import type { ImportedEntity, ImportedLink } from "./imported-project.ts";

export interface Placement {
  /** Files that the context has. */
  readonly existing: readonly MetricsFile[];
  /** Tables by the names that the project uses, as a person answered. */
  readonly tableNames: ReadonlyMap<string, string>;
}

/** Finds the table and the verified key of each entity, then the joins between them. */
export function placeEntities(draft: Draft, placement: Placement): void {
  for (const source of draft.project.entities) {
    const placed = draft.attempt(source, `entity ${source.id}`, () => placeEntity(draft, source, placement));
    if (placed instanceof MetricError) draft.refused.set(source.id, placed);
    else draft.entities.push(placed);
  }
  for (const entity of draft.entities) {
    for (const link of entity.source.links) linkEntity(draft, entity, link, placement);
  }
}

function placeEntity(draft: Draft, source: ImportedEntity, { existing, tableNames }: Placement): DraftEntity {
  const table = findTable(draft, source, tableNames);
  const known = existing.find((file) => file.table === tableText(table));
  const name = known?.entity ?? definedName(draft, source, source.name);
  const twin = draft.entities.find((entity) => entity.table === table);
  if (twin) throw invalid(`${tableText(table)} already is the table of ${twin.source.id}.`, "Merge the two by hand.");
  const namesake =
    draft.entities.find(({ file }) => file.entity === name)?.table ??
    (known ? undefined : existing.find((file) => file.entity === name));
  if (namesake) {
    const other = "columns" in namesake ? tableText(namesake) : namesake.table;
    throw invalid(`The entity ${name} already exists, for ${other}.`, "Rename one of them.");
  }
  return {
    source,
    table,
    file: {
      entity: name,
      ...(source.description !== undefined && { description: source.description }),
      table: tableText(table),
      grain: known?.grain ?? grainOf(draft, source, table),
      roles: {},
      dimensions: {},
      segments: {},
      measures: {},
      metrics: {},
    },
    links: [],
    terms: new Map(),
    measureTypes: new Map(),
    refused: new Map(),
    sources: new Map(),
  };
}

function findTable(draft: Draft, source: ImportedEntity, tableNames: ReadonlyMap<string, string>): CataloguedTable {
  const { tables } = draft.catalogue;
  const wanted = source.relation.join(".");
  const answered = tableNames.get(wanted) ?? tableNames.get(source.id);
  if (answered !== undefined) {
    const table = tables.find((known) => tableText(known) === answered);
    if (table) return table;
    throw invalid(`The catalogue has no table ${answered}.`, "Use schema.table of the catalogue.");
  }
  const same = (a: string, b: string | undefined): boolean => a.toLowerCase() === b?.toLowerCase();
  const [schema, name] = source.relation.length > 1 ? source.relation.slice(-2) : [undefined, source.relation[0]];
  const named = tables.filter((known) => same(known.name, name));
  const exact = schema === undefined ? named : named.filter((known) => same(known.schema, schema));
  if (exact.length === 1) return exact[0]!;
  if (named.length === 0) {
    throw invalid(`The catalogue has no table ${wanted}.`, "Scan the database, or choose another connection.");
  }
  const candidates = named.map(tableText);
  throw draft.ask(
    source,
    `entity ${source.id}`,
    named.length === 1
      ? `The project names ${wanted}, and the catalogue has ${candidates[0]}. Is it the same table?`
      : `Which table is ${wanted}: ${candidates.join(" or ")}?`,
    `Import again with --table ${wanted}=${candidates[0]}.`,
  );
}

function grainOf(draft: Draft, source: ImportedEntity, table: CataloguedTable): string[] {
  const place = tableText(table);
  if (!source.grain) {
    const [key] = table.keys.toSorted((a, b) => a.length - b.length);
    if (key) return [...key];
    throw draft.ask(
      source,
      `entity ${source.id}`,
      `Which columns identify a row of ${place}? Neither the project nor the catalogue knows.`,
      "Declare the key in the database or scan it again, then import again.",
    );
  }
  const columns = source.grain.map((text) => columnOf(table, text));
  if (isUnique(table, columns)) return columns;
  throw draft.ask(
    source,
    `entity ${source.id}`,
    `Does (${columns.join(", ")}) identify a row of ${place}? The catalogue has not verified it.`,
    "Scan the database again or correct the key in the project, then import again.",
  );
}

/** A stored column by its name in SQL. */
export function columnOf(table: CataloguedTable, text: string): string {
  const name = text.trim().replaceAll(/^["`]|["`]$/g, "");
  const exact = table.columns.find((column) => column.name === name);
  if (exact) return exact.name;
  const alike = table.columns.filter((column) => column.name.toLowerCase() === name.toLowerCase());
  if (alike.length === 1) return alike[0]!.name;
  throw invalid(
    `${tableText(table)} has no column ${name}.`,
    "Scan the database again if the column is new, or correct the project.",
  );
}

function linkEntity(draft: Draft, entity: DraftEntity, link: ImportedLink, { existing }: Placement): void {
  const to = draft.entities.find(({ source }) => source.id === link.to);
  // A refused target is listed already.
  if (!to) return;
  const item = `join of ${entity.source.id} to ${link.name}`;
  const found = draft.attempt(link, item, () => findJoin(draft, entity, to, link));
  if (found instanceof MetricError) {
    entity.links.push({ name: link.name, to, columns: [], role: "", refused: found });
    return;
  }
  const known = existing.find((file) => file.table === entity.file.table)?.roles ?? {};
  const given = Object.entries(known).find(([, columns]) => isSame(columns, found.columns))?.[0];
  const { joins } = entity.table;
  const rivals = joins.filter((join) => tableText(join.to) === to.file.table);
  const isShared = joins.filter((join) => isSame(join.columns, found.columns)).length > 1;
  const isOnlyOne = rivals.length === 1 && to !== entity;
  const wanted = draft.project.format === "ossie" && isOnlyOne ? to.file.entity : link.name;
  const role = given ?? (isShared ? to.file.entity : definedName(draft, link, wanted));
  const taken = known[role] ?? entity.file.roles[role];
  if (taken && !isSame(taken, found.columns)) {
    const refused = invalid(`The role ${role} of ${entity.file.entity} already names the join by ${taken.join(", ")}.`);
    draft.refuse(link, item, refused);
    entity.links.push({ name: link.name, to, columns: [], role, refused });
    return;
  }
  entity.links.push({ name: link.name, to, columns: found.columns, role });
  if (given !== undefined || isShared || (isOnlyOne && role === to.file.entity)) return;
  entity.file.roles[role] = [...found.columns];
  entity.sources.set(`roles.${role}`, { path: link.path, line: link.line });
}

function findJoin(draft: Draft, entity: DraftEntity, to: DraftEntity, link: ImportedLink): CataloguedJoin {
  if (link.refused !== undefined) throw invalid(link.refused);
  const columns = link.columns.map((column) => columnOf(entity.table, column));
  const toColumns = link.toColumns.map((column) => columnOf(to.table, column));
  const found = entity.table.joins.find(
    (join) =>
      tableText(join.to) === to.file.table &&
      join.when === undefined &&
      isSame(join.columns, columns) &&
      join.columns.every((column, at) => join.toColumns[at] === toColumns[columns.indexOf(column)]),
  );
  if (found) return found;
  const place = `${entity.file.table} (${columns.join(", ")})`;
  throw draft.ask(
    link,
    `join of ${entity.source.id} to ${link.name}`,
    `Does ${place} refer to ${to.file.table} (${toColumns.join(", ")})? The catalogue has no such accepted join.`,
    "Accept the join in the catalogue, then import again.",
  );
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((column) => b.includes(column));
