import { Database, type LucideIcon, Sparkles, User } from "lucide-react";
import { Badge, type BadgeLook } from "../badge.tsx";
import type { Descriptions } from "../context-api.ts";
import { LabelledIcon } from "../labelled-icon.tsx";

interface Writer {
  who: Exclude<keyof Descriptions, "ai_for">;
  word: string;
  look: BadgeLook;
  icon: LucideIcon;
  title: string;
}

/** Authors in order of precedence. */
const WRITERS: readonly Writer[] = [
  { who: "human", word: "person", look: "good", icon: User, title: "Written by a person. Jobs never overwrite it." },
  { who: "ai", word: "model", look: "accent", icon: Sparkles, title: "Written by a model and accepted." },
  { who: "db", word: "database", look: "plain", icon: Database, title: "The database's own comment." },
];

/** Descriptions with their authors. The first one applies; the others are shown for comparison. */
export function DescriptionList({
  descriptions,
  isLong = false,
}: {
  descriptions: Descriptions | undefined;
  isLong?: boolean;
}) {
  const said = WRITERS.filter(({ who }) => descriptions?.[who]);
  if (said.length === 0) return isLong ? <p className="mt-1 text-ink-faint">No description yet.</p> : null;
  return (
    <ul className={isLong ? "mt-1.5 space-y-1" : "space-y-0.5"}>
      {said.map(({ who, word, look, icon, title }, at) => (
        <li key={who} className={at === 0 ? "" : "text-ink-faint"}>
          <span className="wrap-anywhere">{descriptions![who]}</span>{" "}
          {isLong ? (
            <Badge look={look} title={title}>
              {word}
            </Badge>
          ) : (
            <LabelledIcon icon={icon} words={title} className="size-3 translate-y-px text-ink-faint" />
          )}
        </li>
      ))}
    </ul>
  );
}
