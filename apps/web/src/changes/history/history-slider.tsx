import { useId } from "react";
import { exactly } from "../../text/format.ts";
import type { HistoryPoint, HistoryPointKind } from "./log-replay.ts";

const MARKS: Readonly<Partial<Record<HistoryPointKind, string>>> = {
  said: "top-0 h-5 w-0.5 bg-accent",
  checkpoint: "top-1.5 size-2 -translate-x-1/2 rotate-45 bg-good",
  asked: "top-1 h-3 w-0.5 bg-wait",
  rewound: "top-1 h-3 w-1 bg-wait",
  error: "top-1 h-3 w-0.5 bg-bad",
};
const WORDS: Readonly<Record<HistoryPointKind, string>> = {
  said: "A message of yours",
  answered: "The agent says something",
  called: "A tool at work",
  asked: "A call that had to be asked for",
  checkpoint: "The files were kept",
  rewound: "The session was rewound",
  error: "An error",
};

export const wordsOf = ({ kind, turn }: HistoryPoint): string => `${WORDS[kind]}${turn > 0 ? `, turn ${turn}` : ""}`;

/** The whole session as a slider: mouse, touch and arrow keys. */
export function HistorySlider({
  stops,
  position,
  onMove,
}: {
  stops: readonly HistoryPoint[];
  position: number;
  onMove: (position: number) => void;
}) {
  const marks = useId();
  const last = Math.max(1, stops.length - 1);
  const here = stops[position];
  return (
    <div className="relative">
      <input
        type="range"
        aria-label="Point of the session"
        aria-valuetext={here ? `${wordsOf(here)}${here.at === null ? "" : `, ${exactly(here.at)}`}` : ""}
        aria-describedby={marks}
        min={0}
        max={last}
        value={position}
        onChange={(event) => onMove(Number(event.target.value))}
        className="block h-10 w-full cursor-pointer accent-accent"
      />
      <div aria-hidden className="pointer-events-none absolute inset-x-2 top-6 h-5">
        {stops.map((stop, index) =>
          MARKS[stop.kind] === undefined ? null : (
            <span
              key={stop.upTo}
              title={wordsOf(stop)}
              className={`absolute ${MARKS[stop.kind]!}`}
              style={{ left: `${(index / last) * 100}%` }}
            />
          ),
        )}
      </div>
      <p id={marks} className="sr-only">
        {stops.filter(({ kind }) => kind === "said").length} messages,{" "}
        {stops.filter(({ kind }) => kind === "checkpoint").length} checkpoints
      </p>
    </div>
  );
}
