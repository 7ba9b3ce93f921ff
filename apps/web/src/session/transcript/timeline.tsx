import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { isPainted } from "../../live/first-paint.ts";
import { useLive, useLivePart } from "../../live/live-value.ts";
import type { LiveLog } from "../../live/live-log.ts";
import { Problem } from "../../ui/problem.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Row } from "./row.tsx";
import { type Row as RowData, rowOfPart, Rows } from "./rows.ts";
import { usePartLink } from "./use-part-link.ts";
import { useTurnJump } from "./use-turn-jump.ts";

const AT_END_PX = 48;
/** Distance from the top at which earlier messages are loaded. */
const EARLIER_PX = 800;

/** Estimated height of a row. A low estimate would render several times the needed rows. */
const ROW_PX = 120;

/** Rows rendered outside the viewport: few at the first paint, more for smooth scrolling. */
const OVERSCAN = { first: 1, later: 6 };

/** The outline of a typical conversation. */
const READING = ["ml-auto h-9 w-1/3 rounded-2xl", "mt-8 w-3/4", "w-full", "w-2/3", "h-9 w-full", "w-1/2"];

interface TimelineParts {
  log: LiveLog;
  isRunning: boolean;
  part: string | undefined;
}

export function Timeline(parts: TimelineParts) {
  const isKnown = useLivePart(parts.log.hasEarlier, (hasEarlier) => hasEarlier !== undefined);
  const failure = useLive(parts.log.failure);
  if (failure)
    return (
      <div className="flex-1 p-6">
        <Problem error={failure} onRetry={() => location.reload()} className="mx-auto max-w-xl" />
      </div>
    );
  // Mount the list only once its rows are known. It is then rendered once, at its end.
  if (isKnown) return <Conversation {...parts} />;
  return <Skeleton rows={READING} className="mx-auto min-h-0 w-full max-w-[50rem] flex-1 px-5 pt-6" />;
}

/** Where the row of a linked part is in the middle of the screen, as far as is known before rows are measured. */
const offsetOf = (rows: readonly RowData[], part: string): number => rowOfPart(rows, part) * ROW_PX - innerHeight / 2;

/** A virtual list of rows. It follows the end until the user scrolls up. */
function Conversation({ log, isRunning, part }: TimelineParts) {
  const messages = useLive(log.messages);
  const hasEarlier = useLive(log.hasEarlier);
  const [builder] = useState(() => new Rows());
  const rows = builder.read(messages, isRunning, useLive(log.excerpt));
  const scroller = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const [isFollowing, setFollowing] = useState(part === undefined);
  const overscan = useLive(isPainted) ? OVERSCAN.later : OVERSCAN.first;
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    initialRect: { width: 0, height: innerHeight },
    initialOffset: () => Math.max(0, part === undefined ? rows.length * ROW_PX - innerHeight : offsetOf(rows, part)),
    getItemKey: builder.keyOf,
    overscan,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: AT_END_PX,
  });
  const total = list.getTotalSize();
  useLayoutEffect(() => {
    if (isFollowing && rows.length > 0) list.scrollToEnd();
  }, [isFollowing, rows.length, total, list]);

  const leave = (): void => setFollowing(false);
  const { marked, isMissing, giveUp } = usePartLink({ log, rows, list, part, onLeave: leave });
  const goToEnd = (): void => {
    giveUp();
    setFollowing(true);
  };
  useTurnJump({ rows, list, onLeave: leave, onEnd: goToEnd });

  // A list shorter than the screen cannot be scrolled, so load earlier messages until it is full.
  useEffect(() => {
    const element = scroller.current;
    if (hasEarlier && element && element.scrollHeight <= element.clientHeight + EARLIER_PX) void log.loadEarlier();
  }, [hasEarlier, log, total]);

  // The end of the log can begin within a workflow run. Its counts are right only with all its events.
  const cutRun = rows.find((row) => row.type === "part" && row.part.type === "workflow" && row.part.name === null)?.key;
  useEffect(() => {
    if (hasEarlier && cutRun !== undefined) void log.loadEarlier(cutRun.split(":", 1)[0]);
  }, [hasEarlier, cutRun, log]);

  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    const top = element.scrollTop;
    const isAtEnd = element.scrollHeight - top - element.clientHeight < AT_END_PX;
    if (isAtEnd) setFollowing(true);
    // Only scrolling up stops following. New rows move the end, and the list keeps following it.
    else if (top < lastTop.current - 1) setFollowing(false);
    lastTop.current = top;
    if (top < EARLIER_PX && hasEarlier) void log.loadEarlier();
  };

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        className="h-full overflow-x-hidden overflow-y-auto -outline-offset-2 [overflow-anchor:none] [scrollbar-gutter:stable_both-edges]"
        role="log"
        aria-live="off"
        aria-label="Conversation"
        tabIndex={0}
      >
        {hasEarlier === false && rows.length === 0 && (
          <p className="px-6 pt-24 text-center text-ink-faint">No messages yet.</p>
        )}
        <div className="relative mx-auto w-full max-w-[50rem]" style={{ height: total }}>
          {list.getVirtualItems().map((item) => (
            <div
              key={item.key}
              data-index={item.index}
              aria-current={item.key === marked ? "location" : undefined}
              ref={list.measureElement}
              className="absolute left-0 w-full px-5"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Row row={rows[item.index]!} isMarked={item.key === marked} />
            </div>
          ))}
        </div>
      </div>
      {isMissing && (
        <p className="absolute inset-x-0 top-3 mx-auto w-fit max-w-[94%] animate-appear rounded-full border border-line bg-surface px-3 py-1 text-sm text-ink-soft shadow-float">
          The linked message is not in this conversation.
        </p>
      )}
      {!isFollowing && (
        <button
          type="button"
          onClick={goToEnd}
          className="absolute bottom-3 left-1/2 flex min-h-8 -translate-x-1/2 animate-appear items-center gap-1.5 rounded-full border border-line-strong bg-surface px-3 text-sm shadow-float hover:bg-raised max-md:min-h-10"
        >
          <ArrowDown aria-hidden className="size-3.5" /> Latest
        </button>
      )}
    </div>
  );
}
