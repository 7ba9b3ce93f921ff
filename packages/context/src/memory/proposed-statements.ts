import type { RecordChange, Records } from "@tandem/storage";
import { z } from "zod";
import { type Statement, statementKey } from "./statement.ts";

const KIND = "memory-said";
const said = z.object({ proposal: z.string() });

/** An earlier proposal of the statement, in any state: agents do not repeat it. */
export async function proposedBefore(
  records: Records,
  space: string,
  statement: Statement,
): Promise<string | undefined> {
  const stored = await records.get(space, KIND, statementKey(statement));
  return stored && said.parse(stored.value).proposal;
}

export const rememberStatement = (statement: Statement, proposal: string): RecordChange => ({
  type: "put",
  kind: KIND,
  key: statementKey(statement),
  value: { proposal },
});
