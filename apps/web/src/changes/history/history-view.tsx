import { ChevronLeft, ChevronRight, GitFork, History, Pause, Play } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useCheckpoints } from "../changes-api.ts";
import { ForkDialog } from "../actions/fork-dialog.tsx";
import { HistorySidebar } from "./history-sidebar.tsx";
import { HistoryTranscript } from "./history-transcript.tsx";
import { LogReplay, type HistoryPoint, historyPoints } from "./log-replay.ts";
import type { WholeLog } from "../../api/read-log.ts";
import { useWholeLog } from "./use-whole-log.ts";
import { RewindDialog } from "../actions/rewind-dialog.tsx";
import { HistorySlider, pointLabel } from "./history-slider.tsx";

const PLAY_MS = 450;

const LOADING = ["h-3 w-full", "w-1/4", "mt-6 ml-auto h-9 w-1/3 rounded-2xl", "mt-6 w-3/4", "w-full", "w-2/3"];

/** A session at any point of its history: messages, todos, files and cost. */
export default function HistoryView({ session }: { session: string }) {
  const { data, error, refetch } = useWholeLog(session);
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  // Mount the view only with its events: an empty log would render the first point at no cost.
  if (!data) return <Skeleton rows={LOADING} className="mx-auto w-full max-w-3xl px-5 pt-5" />;
  return <LoadedHistory session={session} log={data} />;
}

function LoadedHistory({ session, log: { events, isWhole } }: { session: string; log: WholeLog }) {
  const checkpoints = useCheckpoints(session);
  const points = useMemo(() => historyPoints(events), [events]);
  const replay = useMemo(() => new LogReplay(events), [events]);
  const [chosen, setChosen] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [dialog, setDialog] = useState<"rewind" | "fork">();
  const last = Math.max(0, points.length - 1);
  const position = Math.min(chosen ?? last, last);
  const shown = useDeferredValue(position);
  const state = replay.at(points[shown]?.upTo ?? 0);

  const go = (next: number): void => setChosen(Math.min(Math.max(next, 0), last));
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
      setChosen((before = last) => Math.min(before + 1, last));
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [isPlaying, last]);
  useShortcuts("History", {
    arrowleft: ["Step back", () => move(position - 1)],
    arrowright: ["Step forward", () => move(position + 1)],
    "shift+arrowleft": ["Previous message", () => move(otherMessage(points, position, -1))],
    "shift+arrowright": ["Next message", () => move(otherMessage(points, position, 1))],
    home: ["Go to the start", () => move(0)],
    end: ["Go to the end", () => move(last)],
    p: ["Play or pause", togglePlaying],
    r: ["Rewind", () => setDialog("rewind")],
    f: ["Fork", () => setDialog("fork")],
  });

  if (points.length === 0)
    return <Empty title="No history yet">After the first turn you can step through the session here.</Empty>;
  const here = points[position];
  const turns = checkpoints.data?.turns ?? [];
  const turn = turns.find((one) => one.turn === here?.turn && !one.rewound)?.turn;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="border-b border-line bg-surface px-4 pt-1 pb-2">
        <HistorySlider points={points} position={position} onMove={move} />
        <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1">
          <div className="flex items-center gap-1">
            <Button size="icon" look="quiet" aria-label="Step back" onClick={() => move(position - 1)}>
              <ChevronLeft aria-hidden className="size-4" />
            </Button>
            <Button size="icon" look="quiet" aria-label={isPlaying ? "Pause" : "Play"} onClick={togglePlaying}>
              {isPlaying && position < last ? (
                <Pause aria-hidden className="size-4" />
              ) : (
                <Play aria-hidden className="size-4" />
              )}
            </Button>
            <Button size="icon" look="quiet" aria-label="Step forward" onClick={() => move(position + 1)}>
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
          {!isWhole && <span className="text-xs text-wait">The start of the session is not loaded.</span>}
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
            setChosen(undefined);
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
