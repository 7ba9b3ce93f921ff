import { openConnection } from "@tandem/connectors";
import { findJoins, type Run } from "@tandem/context";
import { configSchema } from "@tandem/protocol";
import { findRelationships, profileTables, type Relationship } from "@tandem/relationships";
import { linkId, type Link, reversed } from "./truth.ts";

export interface Measured {
  precision: number;
  recall: number;
  f1: number;
  reversed: number;
  truths: number;
  accepted: number;
  seconds: number;
  missed: string[];
  wrong: string[];
  /** Missed, but at least put up for review. */
  inReview: number;
}

/** Finds links in a stripped file and compares those that were accepted with the true ones. With a run, its model is asked too. */
export async function measureJoins(file: string, truth: readonly Link[], run?: Run): Promise<Measured> {
  const start = performance.now();
  const relationships = await find(file, run);
  const seconds = (performance.now() - start) / 1000;
  const truths = new Map(truth.map((link) => [linkId(link), link]));
  const backwards = new Set(truth.map((link) => linkId(reversed(link))).filter((id) => !truths.has(id)));
  const ids = (status: string) =>
    new Map(relationships.filter((each) => each.status === status).map((each) => [linkId(linkOf(each)), each]));
  const [accepted, review] = [ids("accepted"), ids("review")];
  const hits = [...accepted.keys()].filter((id) => truths.has(id)).length;
  const precision = accepted.size === 0 ? (truths.size === 0 ? 1 : 0) : hits / accepted.size;
  const recall = truths.size === 0 ? 1 : hits / truths.size;
  const missed = [...truths.keys()].filter((id) => !accepted.has(id));
  return {
    precision,
    recall,
    f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    reversed: [...accepted.keys()].filter((id) => backwards.has(id)).length,
    truths: truths.size,
    accepted: accepted.size,
    seconds,
    missed: missed.map((id) => `${id}${review.has(id) ? " (for review)" : ""}`),
    wrong: [...accepted].filter(([id]) => !truths.has(id)).map(([id, { why }]) => `${id}: ${why.join(" ")}`),
    inReview: missed.filter((id) => review.has(id)).length,
  };
}

const linkOf = ({ from, to }: Relationship): Link => ({
  from: { table: from.table.name, columns: from.columns },
  to: { table: to.table.name, columns: to.columns },
});

async function find(file: string, run?: Run): Promise<readonly Relationship[]> {
  await using connection = await openConnection({ driver: "sqlite", path: file });
  const tables = await connection.structure();
  const { profiles } = await profileTables(
    connection,
    tables.filter(({ type }) => type === "table"),
  );
  if (!run) return (await findRelationships({ connection, tables, profiles })).relationships;
  const scanned = tables.map((table) => ({
    table,
    profile: profiles.find(({ schema, name }) => schema === table.schema && name === table.name),
  }));
  const found = await findJoins(
    run,
    scanned,
    { tables: scanned, mayStore: () => true },
    { name: "bench", connection, config: configSchema.parse({}).scan },
  );
  return found?.relationships ?? [];
}
