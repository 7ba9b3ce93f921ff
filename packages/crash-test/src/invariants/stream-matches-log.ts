import type { History, SeenEvent, StreamRead } from "../operation-history.ts";
import type { Finding, Invariant } from "./invariant.ts";
import { finalLog, sessionsOf } from "../observed-log.ts";

export const streamMatchesLog: Invariant = {
  name: "stream-matches-log",
  promise: "A stream delivers the log over all its connections: in order, in time, each event once, and nothing else.",
  check: (history) => {
    const types = streamedTypes(history);
    // Servers may leave out spans and their own types. A type that one stream delivers must be in all.
    const isDelivered = ({ type }: SeenEvent): boolean => ALWAYS.test(type) || types.has(type);
    return history.streams.flatMap(({ session, ids, missed }) =>
      [...compare(ids, finalLog(history, session), isDelivered), ...late(missed)].map(({ message }) => ({
        session,
        message,
      })),
    );
  },
};

const ALWAYS = /^(agent\.(message|.*tool)|session\.status_)/;

function streamedTypes(history: History): Set<string> {
  const streamed = new Set(
    history.streams.flatMap(({ ids, listed }) => {
      const found = new Set(listed);
      return ids.filter((id) => !found.has(id));
    }),
  );
  const logs = sessionsOf(history).flatMap((session) => finalLog(history, session));
  return new Set(logs.flatMap(({ id, type }) => (streamed.has(id) ? [type] : [])));
}

const late = (missed: StreamRead["missed"]): Finding[] =>
  missed
    ? [
        {
          message: `A stream did not deliver ${missed.id} within ${Math.round(missed.waitedMs / 1_000)} s.`,
        },
      ]
    : [];

function compare(
  ids: readonly string[],
  log: readonly SeenEvent[],
  isDelivered: (event: SeenEvent) => boolean,
): Finding[] {
  const places = ids.map((id) => log.findIndex((event) => event.id === id));
  const unknown = ids.filter((_, index) => places[index] === -1);
  const known = places.filter((place) => place !== -1);
  const back = known.findIndex((place, index) => index > 0 && place <= known[index - 1]!);
  const skipped = log
    .slice(0, (known.at(-1) ?? -1) + 1)
    .filter((event) => isDelivered(event) && !ids.includes(event.id));
  return [
    ...unknown.map((id) => ({ message: `A stream delivered ${id}, which is not in the log.` })),
    ...(back === -1 ? [] : [{ message: `A stream delivered ${log[known[back]!]!.id} out of order or twice.` }]),
    ...skipped.map(({ type, id }) => ({ message: `A stream skipped ${type} ${id}.` })),
  ];
}
