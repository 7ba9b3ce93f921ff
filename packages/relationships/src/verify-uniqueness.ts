import type { Choice } from "./choose-targets.ts";
import type { Prober } from "./prober.ts";
import type { Key } from "./table-keys.ts";

/** Keys that nobody declared and of which only a sample was seen are counted in full before anything rests on them. */
export async function verifyUniqueness(choices: Choice[], prober: Prober): Promise<void> {
  const resting = choices.filter(
    ({ status, candidate: { key } }) => status !== "rejected" && key.unique === "counted" && !key.table.seenWhole,
  );
  for (const [key, links] of Map.groupBy(resting, ({ candidate }) => candidate.key)) {
    const unique = await isUnique(key, prober);
    for (const link of links) {
      if (unique === false) [link.status, link.confidence] = ["rejected", 0.05];
      if (unique === false) link.why.push("What it would refer to is not unique.");
      if (unique === undefined) link.why.push("Whether what it refers to is unique was seen in a sample only.");
    }
  }
}

async function isUnique({ table, columns }: Key, prober: Prober): Promise<boolean | undefined> {
  const column = prober.quote(columns[0]!.name);
  const rows = await prober.query(`SELECT count(${column}), count(DISTINCT ${column}) FROM ${prober.tableOf(table)}`);
  return rows && Number(rows[0]![0]) === Number(rows[0]![1]);
}
