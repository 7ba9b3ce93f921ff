import type { Read, SeenEvent } from "../operation-history.ts";
import type { Finding, Invariant } from "./invariant.ts";

export const logAppendOnly: Invariant = {
  name: "log-append-only",
  promise:
    "Events keep their place and content: each read of a log starts with the earlier one, and no id is there twice.",
  check: ({ reads }) =>
    [...Map.groupBy(reads, ({ session }) => session)].flatMap(([session, own]) => [
      ...own.slice(1).flatMap((read, index) => compare(session, own[index]!, read)),
      ...doubled(session, own.at(-1)!),
    ]),
};

const logged = ({ events }: Read): SeenEvent[] => events.filter(({ isQueued }) => !isQueued);

/** Only the first difference: everything after it is moved, too. */
function compare(session: string, earlier: Read, later: Read): Finding[] {
  const after = logged(later);
  for (const [place, event] of logged(earlier).entries()) {
    const now = after[place];
    if (now?.json === event.json) continue;
    const name = `${event.type} ${event.id}`;
    const elsewhere = after.find(({ id }) => id === event.id);
    if (now?.id === event.id) return [{ session, message: `${name} has changed: ${event.json} is now ${now.json}.` }];
    if (!elsewhere) return [{ session, message: `${name} at place ${place} is gone.` }];
    return [{ session, message: `${name} has moved from place ${place} to ${after.indexOf(elsewhere)}.` }];
  }
  return [];
}

function doubled(session: string, { events }: Read): Finding[] {
  const ids = events.map(({ id }) => id);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...twice].map((id) => ({ session, message: `The event ${id} is in the log more than once.` }));
}
