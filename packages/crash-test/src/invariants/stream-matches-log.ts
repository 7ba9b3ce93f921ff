import type { SeenEvent, StreamRead } from "../operation-history.ts";
import type { Finding, Invariant } from "./invariant.ts";
import { finalLog } from "../observed-log.ts";

export const streamMatchesLog: Invariant = {
  name: "stream-matches-log",
  promise: "A stream delivers the log: in its order, in time, without repeating or skipping events, and nothing else.",
  check: (history) =>
    history.streams.flatMap(({ session, ids, missed }) =>
      [...compare(ids, finalLog(history, session)), ...late(missed)].map(({ message }) => ({ session, message })),
    ),
};

/** Servers may leave out spans and their own types; these they must deliver. */
const isDelivered = ({ type }: SeenEvent): boolean => /^(agent\.(message|.*tool)|session\.status_)/.test(type);

const late = (missed: StreamRead["missed"]): Finding[] =>
  missed
    ? [
        {
          message: `A stream stayed open for ${Math.round(missed.waitedMs / 1_000)} s without delivering ${missed.id}.`,
        },
      ]
    : [];

function compare(ids: readonly string[], log: readonly SeenEvent[]): Finding[] {
  const places = ids.map((id) => log.findIndex((event) => event.id === id));
  const unknown = ids.filter((_, index) => places[index] === -1);
  const known = places.filter((place) => place !== -1);
  const back = known.findIndex((place, index) => index > 0 && place <= known[index - 1]!);
  const [first, last] = [known[0] ?? 0, known.at(-1) ?? -1];
  const skipped = log.slice(first, last + 1).filter((event) => isDelivered(event) && !ids.includes(event.id));
  return [
    ...unknown.map((id) => ({ message: `A stream delivered ${id}, which is not in the log.` })),
    ...(back === -1 ? [] : [{ message: `A stream delivered ${log[known[back]!]!.id} out of order or twice.` }]),
    ...skipped.map(({ type, id }) => ({ message: `A stream skipped ${type} ${id}.` })),
  ];
}
