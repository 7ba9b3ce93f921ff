import type { Message, PartOf } from "@tandem/protocol";

type Span = readonly [from: number, to: number];

/** How long a turn waited for a person or for the result of a custom tool. Waits of several calls at once count once. */
export function waitedMs(messages: readonly Message[]): number {
  const waits = messages
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool" ? waitOf(part) : [])))
    .toSorted(([a], [b]) => a - b);
  let total = 0;
  let covered = -Infinity;
  for (const [from, to] of waits) {
    total += Math.max(0, to - Math.max(from, covered));
    covered = Math.max(covered, to);
  }
  return total;
}

export function waitOf({ kind, at, permission, state }: PartOf<"tool">): Span[] {
  const endedAt = "ended_at" in state ? state.ended_at : null;
  const answeredAt = isAnswered(permission) ? permission.at : null;
  const until = kind === "custom" ? endedAt : permission?.type === "asked" ? endedAt : answeredAt;
  return at === null || until === null ? [] : [[Date.parse(at), Date.parse(until)]];
}

const isAnswered = (
  permission: PartOf<"tool">["permission"],
): permission is Extract<PartOf<"tool">["permission"], { by: string }> =>
  permission !== null && permission.type !== "asked" && permission.by === "person";
