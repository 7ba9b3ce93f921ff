import { useEffect, useRef } from "react";
import type { Choice } from "./use-choices.ts";

/** What can be chosen by the arrow keys while one types; the focus stays where one types. */
export function ChoiceList({
  id,
  sign,
  choices,
  current,
  onChoose,
}: {
  id: string;
  sign: "/" | "@";
  choices: readonly Choice[];
  current: number;
  onChoose: (choice: Choice) => void;
}) {
  const chosen = useRef<HTMLLIElement>(null);
  useEffect(() => chosen.current?.scrollIntoView({ block: "nearest" }), [current]);
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={sign === "/" ? "Commands" : "Files"}
      className="absolute bottom-full left-0 z-20 mb-1.5 max-h-72 w-full overflow-y-auto rounded-xl border border-line-strong bg-surface p-1 shadow-float"
    >
      {choices.map((choice, index) => (
        <li
          key={choice.name}
          id={`${id}-${index}`}
          ref={index === current ? chosen : undefined}
          role="option"
          aria-selected={index === current}
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(choice);
          }}
          className={`flex cursor-pointer items-baseline gap-3 rounded-lg px-2.5 py-1 text-sm max-md:py-2 ${index === current ? "bg-raised" : ""}`}
        >
          <span className="min-w-0 shrink-0 truncate font-mono text-xs">
            <span className="text-ink-faint">{sign}</span>
            {choice.name}
          </span>
          <span className="min-w-0 truncate text-xs text-ink-faint">{choice.note}</span>
        </li>
      ))}
    </ul>
  );
}
