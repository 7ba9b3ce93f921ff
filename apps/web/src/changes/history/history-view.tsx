import { ChevronLeft, ChevronRight, GitFork, History, Pause, Play } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useCheckpoints } from "../changes-api.ts";
import { ForkDialog } from "../actions/fork-dialog.tsx";
import { HistorySidebar } from "./history-sidebar.tsx";
import { HistoryTranscript } from "./history-transcript.tsx";
import { LogReplay, type HistoryPoint, historyPoints } from "./log-replay.ts";
import { useWholeLog } from "./use-whole-log.ts";
import { RewindDialog } from "../actions/rewind-dialog.tsx";
import { HistorySlider, pointLabel } from "./history-slider.tsx";

const PLAY_MS = 450;

/** A session at any point of its history: messages, todos, files and cost. */
export default function HistoryView({ session }: { session: string }) {
  const log = useWholeLog(session);
  const checkpoints = useCheckpoints(session);
  const events = log.data?.events;
  const points = useMemo(() => historyPoints(events ?? []), [events]);
  const replay = useMemo(() => new LogReplay(events ?? []), [events]);
  const [wish, setWish] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [dialog, setDialog] = useState<"rewind" | "fork">();
  const last = Math.max(0, points.length - 1);
  const position = Math.min(wish ?? last, last);
  const shown = useDeferredValue(position);
  const state = replay.at(points[shown]?.upTo ?? 0);

  const go = (next: number): void => setWish(Math.min(Math.max(next, 0), last));
  const move = (next: number): void => {
    setPlaying(false);
    go(next);
  };
  const togglePlaying = (): void => {
    if (!isPlaying && position >= last) go(0);
    setPlaying(!isPlaying);
  };
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      setWish((before = last) => Math.min(before + 1, last));
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [isPlaying, last]);
  useShortcuts("History", {
    arrowleft: ["A step back", () => move(position - 1)],
    arrowright: ["A step on", () => move(position + 1)],
    "shift+arrowleft": ["To the message before", () => move(otherMessage(points, position, -1))],
    "shift+arrowright": ["To the next message", () => move(otherMessage(points, position, 1))],
    home: ["To the beginning", () => move(0)],
    end: ["To the end", () => move(last)],
    p: ["Play or pause", togglePlaying],
    r: ["Rewind", () => setDialog("rewind")],
    f: ["Fork", () => setDialog("fork")],
  });

  if (log.error && !log.data) return <Problem error={log.error} onRetry={() => void log.refetch()} className="m-4" />;
  if (log.data && points.length === 0)
    return <Empty title="Nothing has happened yet">Once something has, one can go back and forth in it here.</Empty>;
  const here = points[position];
  const turns = checkpoints.data?.turns ?? [];
  const turn = turns.find((one) => one.turn === here?.turn && !one.rewound)?.turn;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="border-b border-line bg-surface px-4 pt-1 pb-2">
        <HistorySlider points={points} position={position} onMove={move} />
        <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1">
          <div className="flex items-center gap-1">
            <Button size="icon" look="quiet" aria-label="A step back" onClick={() => move(position - 1)}>
              <ChevronLeft aria-hidden className="size-4" />
            </Button>
            <Button size="icon" look="quiet" aria-label={isPlaying ? "Pause" : "Play"} onClick={togglePlaying}>
              {isPlaying && position < last ? (
                <Pause aria-hidden className="size-4" />
              ) : (
                <Play aria-hidden className="size-4" />
              )}
            </Button>
            <Button size="icon" look="quiet" aria-label="A step on" onClick={() => move(position + 1)}>
              <ChevronRight aria-hidden className="size-4" />
            </Button>
          </div>
          <h2 className="text-sm font-medium">{here ? pointLabel(here) : "…"}</h2>
          {here?.at !== null && here?.at !== undefined && (
            <time dateTime={here.at} className="text-xs text-ink-faint">
              {formatDateTime(here.at)}
            </time>
          )}
          <span className="text-xs text-ink-faint tabular-nums">
            {position + 1} of {points.length}
          </span>
          {log.data?.isWhole === false && <span className="text-xs text-wait">The beginning is not shown.</span>}
          <div className="ml-auto flex gap-1.5">
            <Button size="small" disabled={turns.length === 0} onClick={() => setDialog("fork")}>
              <GitFork aria-hidden className="size-4" /> Fork …
            </Button>
            <Button size="small" disabled={turns.length === 0} onClick={() => setDialog("rewind")}>
              <History aria-hidden className="size-4" /> Rewind …
            </Button>
          </div>
        </div>
      </div>
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] max-lg:grid-rows-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-cols-[minmax(0,1fr)_20rem]">
        <HistoryTranscript messages={state.messages} />
        <HistorySidebar session={session} state={state} checkpoints={checkpoints.data?.checkpoints ?? []} />
      </div>
      {dialog === "rewind" && (
        <RewindDialog
          session={session}
          turns={turns}
          turn={turn}
          onClose={() => setDialog(undefined)}
          onDone={() => {
            setWish(undefined);
            void checkpoints.refetch();
          }}
        />
      )}
      {dialog === "fork" && (
        <ForkDialog session={session} turns={turns} turn={turn} onClose={() => setDialog(undefined)} />
      )}
    </div>
  );
}

function otherMessage(points: readonly HistoryPoint[], position: number, by: 1 | -1): number {
  for (let at = position + by; at >= 0 && at < points.length; at += by) if (points[at]!.kind === "said") return at;
  return by === 1 ? points.length - 1 : 0;
}
