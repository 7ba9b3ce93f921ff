import { operation } from "../operation.ts";
import { all, insert, join, sql, type Work } from "../sql-statement.ts";
import { DUE, FIRST_DUE, WANTED, WEBHOOKS } from "../announcements.ts";

export interface AnnouncementRow {
  /** The id of the webhook event. */
  id: string;
  type: string;
  at: number;
  /** The announcement as JSON. */
  value: string;
}

/**
 * Writes one delivery for each endpoint that wants the announcement, in the transaction of the change that it announces. Writes
 * nothing if there is none. Takes no lock on the space: the keys are new, so no version can conflict.
 */
export function* announce(announcements: readonly AnnouncementRow[]): Work<void> {
  const types = [...new Set(announcements.map(({ type }) => type))];
  if (types.length === 0) return;
  // "0" is the character after "/".
  const ranges = types.map((type) => sql`(key > ${`${type}/`} and key < ${`${type}0`})`);
  const wanted = yield* all(sql<{ key: string }>`
    select key from record where space = ${WEBHOOKS} and kind = ${WANTED} and (${join(ranges, " or ")})`);
  const rows = wanted.flatMap(({ key }) => {
    const [type, endpoint] = key.split("/");
    return announcements
      .filter((announcement) => announcement.type === type)
      .map(({ id, at, value }) => {
        return {
          space: WEBHOOKS,
          kind: DUE,
          key: `${endpoint}/${FIRST_DUE}/${id}`,
          version: 1,
          updated_at: at,
          value,
        };
      });
  });
  // A transaction that is repeated after a lost answer has the same keys.
  if (rows.length > 0) yield sql`${insert("record", rows)} on conflict (space, kind, key) do nothing`;
}

export const addAnnouncements = operation("announcements.add", announce);
