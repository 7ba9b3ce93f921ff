import type { Announcement } from "@tandem/protocol";
import type { Store } from "@tandem/storage";

/**
 * Announces changes to the webhook endpoints that want their type. Durable: once it resolved, the server delivers them, also after
 * a crash. Nothing is written if no endpoint wants them.
 *
 * A crash between a change and this call loses the announcement. Where the change itself is in the store, announce it in its
 * transaction instead: `records.write(space, changes, { announce: [{ type: "deployment.paused", id }] })` or
 * `events.append(lease, entries, { announce })`. Changes of sessions, threads, agents and environments are announced by their
 * stores.
 */
export const announce = (store: Pick<Store, "announcements">, ...announcements: Announcement[]): Promise<void> =>
  store.announcements.add(announcements);
