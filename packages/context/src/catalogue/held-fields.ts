import { suspicionOf, suspicionOfName } from "../untrusted/suspicion.ts";
import type { ColumnEntry, Descriptions, JoinEntry, TableFile } from "./table-file.ts";
import type { FieldLines } from "./table-lines.ts";
import { joinKey } from "./table-values.ts";

/**
 * Fields of a table's file that need a person, because text from the database in them may be a prompt injection. A
 * nested map is held as a whole, so that the accepted part is valid without it.
 */
export function heldFields(file: TableFile, text: string): (field: FieldLines) => string | undefined {
  const whole = why("name", suspicionOfName(file.schema) ?? suspicionOfName(file.table));
  const columns = new Map(file.columns.map((entry) => [entry.name, entry]));
  const joins = new Map(file.joins?.map((entry) => [joinKey(entry), entry]));
  const lines = text.split("\n");
  return ({ from, to, column: name, join: key, under, aspect }) => {
    if (whole !== undefined || aspect === "own") return whole;
    const column = name === undefined ? undefined : columns.get(name);
    const named = column && suspicionOfName(column.name);
    if (named) return why("name", named);
    if (under === "descriptions") return describedBy((column ?? file).descriptions);
    if (under === "profile") return sampledBy(column?.profile);
    const join = key === undefined ? undefined : joins.get(key);
    return join ? isHeldJoin(join) : why("text", suspicionOfName(lines.slice(from - 1, to).join("\n")));
  };
}

export function isHeldJoin({ columns, to, toColumns, when, why: reason }: JoinEntry): string | undefined {
  const names = [...columns, to, ...toColumns].map(suspicionOfName).find((found) => found !== null);
  return why("text", names ?? suspicionOf([when?.equals ?? "", reason ?? ""].join("\n")));
}

/** A person's text is not checked. */
const describedBy = (said: Descriptions | undefined): string | undefined =>
  why("comment", suspicionOf([said?.db ?? "", said?.ai ?? ""].join("\n")));

function sampledBy(profile: ColumnEntry["profile"]): string | undefined {
  const { min = "", max = "", samples = [] } = profile ?? {};
  return why("value", suspicionOf([min, max, ...samples].join("\n")));
}

const why = (what: string, suspicion: string | null): string | undefined =>
  suspicion === null ? undefined : `A ${what} ${suspicion}.`;
