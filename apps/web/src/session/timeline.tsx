import { useVirtualizer } from "@tanstack/react-virtual";
import type { Message } from "@tandem/protocol";
import { ArrowDown } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useLive } from "../live/live-value.ts";
import type { SessionLog } from "../live/session-log.ts";
import { Row } from "./row.tsx";

const AT_END_PX = 48;

/** The parts of a session, one row each; only those on the screen are there. It follows the end unless one scrolls away. */
export function Timeline({ log }: { log: SessionLog }) {
  const messages = useLive(log.messages);
  const hasEarlier = useLive(log.hasEarlier);
  const failure = useLive(log.failure);
  const rows = useMemo(() => rowsOf(messages), [messages]);
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 56,
    getItemKey: (index) => rows[index]!.key,
    overscan: 8,
    anchorTo: "end",
    followOnAppend: true,
  });
  useEffect(() => {
    if (isFollowing && rows.length > 0) list.scrollToIndex(rows.length - 1, { align: "end" });
  }, [isFollowing, rows.length, list]);

  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX);
    if (element.scrollTop < 600 && hasEarlier) void log.goBack();
  };

  if (failure) return <p className="flex-1 p-6 text-bad">{failure.message}</p>;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        className="h-full overflow-y-auto"
        role="log"
        aria-live="off"
        aria-label="Conversation"
        tabIndex={0}
      >
        <div className="relative mx-auto w-full max-w-4xl" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => (
            <div
              key={item.key}
              data-index={item.index}
              ref={list.measureElement}
              className="absolute left-0 w-full px-4"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <Row row={rows[item.index]!} />
            </div>
          ))}
        </div>
      </div>
      {!isFollowing && (
        <button
          type="button"
          onClick={() => setFollowing(true)}
          className="absolute bottom-3 left-1/2 flex -translate-x-1/2 items-center gap-1 rounded-full border border-line bg-surface px-3 py-1 text-sm shadow-float hover:bg-raised"
        >
          <ArrowDown aria-hidden className="size-3.5" /> Latest
        </button>
      )}
    </div>
  );
}

export interface RowOf {
  key: string;
  message: Message;
  part: Message["parts"][number];
  isFirst: boolean;
}

function rowsOf(messages: readonly Message[]): RowOf[] {
  return messages.flatMap((message) =>
    message.parts
      .filter(({ type }) => type !== "step")
      .map((part, index) => ({ key: `${message.id}/${part.type}/${part.id}`, message, part, isFirst: index === 0 })),
  );
}
