import type { Descriptions } from "../context-api.ts";
import { Badge, type BadgeLook } from "../badge.tsx";

/** Who says it, the one that counts first. */
const WRITERS: readonly [who: keyof Descriptions, word: string, look: BadgeLook, title: string][] = [
  ["human", "person", "good", "Written by a person: no run writes there."],
  ["ai", "model", "accent", "Written by a model, and accepted."],
  ["db", "database", "plain", "The database's own comment."],
];

/** What something is, and who says so. Of several the first counts; the others are there to compare. */
export function Described({
  descriptions,
  isLong = false,
}: {
  descriptions: Descriptions | undefined;
  isLong?: boolean;
}) {
  const said = WRITERS.filter(([who]) => descriptions?.[who]);
  if (said.length === 0) return isLong ? <p className="mt-1 text-ink-faint">Nobody has described it yet.</p> : null;
  return (
    <ul className={isLong ? "mt-1.5 space-y-1" : "space-y-0.5"}>
      {said.map(([who, word, look, title], at) => (
        <li key={who} className={at === 0 ? "" : "text-ink-faint"}>
          <span className="wrap-anywhere">{descriptions![who]}</span>{" "}
          <Badge look={look} title={title}>
            {word}
          </Badge>
        </li>
      ))}
    </ul>
  );
}
