import { useId } from "react";
import { formatDateTime } from "../../text/format.ts";
import type { HistoryPoint, HistoryPointKind } from "./log-replay.ts";

const MARKS: Readonly<Partial<Record<HistoryPointKind, string>>> = {
  said: "top-0 h-5 w-0.5 bg-accent",
  checkpoint: "top-1.5 size-2 -translate-x-1/2 rotate-45 bg-good",
  asked: "top-1 h-3 w-0.5 bg-wait",
  rewound: "top-1 h-3 w-1 bg-wait",
  error: "top-1 h-3 w-0.5 bg-bad",
};
const WORDS: Readonly<Record<HistoryPointKind, string>> = {
  said: "Your message",
  answered: "Agent message",
  called: "Tool call",
  asked: "Approval",
  checkpoint: "Checkpoint",
  rewound: "Rewind",
  error: "Error",
};

export const pointLabel = ({ kind, turn }: HistoryPoint): string => `${WORDS[kind]}${turn > 0 ? `, turn ${turn}` : ""}`;

/** The whole session as a slider: mouse, touch and arrow keys. */
export function HistorySlider({
  points,
  position,
  onMove,
}: {
  points: readonly HistoryPoint[];
  position: number;
  onMove: (position: number) => void;
}) {
  const marks = useId();
  const last = Math.max(1, points.length - 1);
  const here = points[position];
  return (
    <div className="relative">
      <input
        type="range"
        aria-label="Position in the session"
        aria-valuetext={here ? `${pointLabel(here)}${here.at === null ? "" : `, ${formatDateTime(here.at)}`}` : ""}
        aria-describedby={marks}
        min={0}
        max={last}
        value={position}
        onChange={(event) => onMove(Number(event.target.value))}
        className="block h-10 w-full cursor-pointer accent-accent"
      />
      <div aria-hidden className="pointer-events-none absolute inset-x-2 top-6 h-5">
        {points.map((point, index) =>
          MARKS[point.kind] === undefined ? null : (
            <span
              key={point.upTo}
              title={pointLabel(point)}
              className={`absolute ${MARKS[point.kind]!}`}
              style={{ left: `${(index / last) * 100}%` }}
            />
          ),
        )}
      </div>
      <p id={marks} className="sr-only">
        {points.filter(({ kind }) => kind === "said").length} messages,{" "}
        {points.filter(({ kind }) => kind === "checkpoint").length} checkpoints
      </p>
    </div>
  );
}
