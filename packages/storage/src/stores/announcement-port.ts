import { newId, type Announcement } from "@tandem/protocol";
import type { Announcements } from "../announcements.ts";
import type { Database } from "../database.ts";
import { addAnnouncements, type AnnouncementRow } from "../operations/announcements.ts";

/** Lets the other stores announce their changes. */
export class AnnouncementPort implements Announcements {
  readonly #database: Database;
  readonly #listeners = new Set<() => void>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes a write together with its announcements, and tells the listeners after the commit. */
  async with<T>(announcements: readonly Announcement[], write: (rows: AnnouncementRow[]) => Promise<T>): Promise<T> {
    const rows = encode(announcements);
    const result = await write(rows);
    if (rows.length > 0) for (const listener of this.#listeners) listener();
    return result;
  }

  async add(announcements: readonly Announcement[]): Promise<void> {
    if (announcements.length === 0) return;
    await this.with(announcements, (rows) => this.#database.write(addAnnouncements, rows));
  }

  onAdded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function encode(announcements: readonly Announcement[]): AnnouncementRow[] {
  const at = Date.now();
  return announcements.map((announcement) => ({
    id: newId("webhookEvent", at),
    type: announcement.type,
    at,
    value: JSON.stringify({ announcement, created_at: new Date(at).toISOString() }),
  }));
}
