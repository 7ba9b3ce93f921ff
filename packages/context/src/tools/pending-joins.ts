import { type JoinEntry, parseTableFile, type TableFile } from "../catalogue/table-file.ts";
import { tablePath } from "../catalogue/table-path.ts";
import type { Hunk } from "../proposals/proposal.ts";
import type { Proposals } from "../proposals/proposals.ts";

export interface PendingJoin {
  condition: string;
  confidence: number;
}

/** Direct joins between two tables that wait for a review. Never from a proposal in quarantine. */
export async function pendingJoins(
  proposals: Pick<Proposals, "waiting" | "page">,
  [a, b]: readonly [TableFile, TableFile],
): Promise<PendingJoin[]> {
  const there = await pendingFrom(proposals, a, b);
  return tablePath(a) === tablePath(b) ? there : [...there, ...(await pendingFrom(proposals, b, a))];
}

async function pendingFrom(
  proposals: Pick<Proposals, "waiting" | "page">,
  from: TableFile,
  to: TableFile,
): Promise<PendingJoin[]> {
  const path = tablePath(from);
  const id = (await proposals.waiting(path, { exceptOf: "" })).get(path);
  const page = id && (await proposals.page(id, { limit: 1, filter: { paths: [path], kinds: ["join"] } }));
  if (!page || page.proposal.quarantine !== null) return [];
  const known = new Set((from.joins ?? []).map(keyOf));
  return page.proposal.changes.flatMap(({ after, hunks }) => {
    const parsed = after === null ? undefined : parseTableFile(after);
    if (!parsed?.success) return [];
    const open = hunks.filter(({ state, held }) => state === "open" && held === undefined);
    return (parsed.table.joins ?? [])
      .filter((entry) => entry.to === `${to.schema}.${to.table}` && !known.has(keyOf(entry)) && isIn(open, entry))
      .map(({ columns, toColumns, confidence }) => {
        const pairs = columns.map((column, i) => `${from.table}.${column} = ${to.table}.${toColumns[i]}`);
        return { condition: pairs.join(" AND "), confidence };
      });
  });
}

const keyOf = ({ columns, to, toColumns }: JoinEntry): string => JSON.stringify([columns, to, toColumns]);

/** Whether an open hunk adds the join: others of the proposal may have been rejected. */
const isIn = (hunks: readonly Hunk[], { columns, to }: JoinEntry): boolean =>
  hunks.some(({ newLines }) => [...columns, to].every((text) => newLines.some((line) => line.includes(text))));
