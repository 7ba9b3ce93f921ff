import type { Turn } from "./changes-api.ts";

/** Selects one turn or all turns. */
export function TurnList({
  turns,
  selected,
  onSelect,
}: {
  turns: readonly Turn[];
  selected: number | undefined;
  onSelect: (turn: number | undefined) => void;
}) {
  const item =
    "flex w-full items-baseline gap-2 rounded px-1.5 py-1 text-left text-sm hover:bg-raised aria-current:bg-raised aria-current:font-medium pointer-coarse:min-h-10";
  return (
    <ul>
      <li>
        <button
          type="button"
          aria-current={selected === undefined}
          onClick={() => onSelect(undefined)}
          className={item}
        >
          Whole session
        </button>
      </li>
      {turns.map((turn) => (
        <li key={turn.message_id}>
          <button
            type="button"
            aria-current={selected === turn.turn}
            onClick={() => onSelect(turn.turn)}
            className={item}
            title={turn.text}
          >
            <span className="w-5 shrink-0 text-right text-xs text-ink-faint tabular-nums">{turn.turn}</span>
            <span className={`truncate ${turn.rewound ? "text-ink-faint line-through" : ""}`}>
              {turn.text.trim() === "" ? "No text" : turn.text}
            </span>
            {turn.rewound && <span className="sr-only">, rewound</span>}
            {turn.files_changed !== null && turn.files_changed > 0 && (
              <span className="ml-auto shrink-0 text-xs font-normal text-ink-faint">
                {turn.files_changed}
                <span className="sr-only"> files</span>
              </span>
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}

export const turnLabel = ({ turn, text, rewound }: Turn): string =>
  `${turn}. ${text.replaceAll(/\s+/g, " ").slice(0, 60)}${rewound ? " (rewound)" : ""}`;
