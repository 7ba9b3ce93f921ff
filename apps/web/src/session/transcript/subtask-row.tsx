import type { PartOf } from "@tandem/protocol";
import { type ReactNode, useEffect, useState } from "react";
import { useLive } from "../../live/live-value.ts";
import { LiveLog } from "../../live/live-log.ts";
import { duration } from "../../text/format.ts";
import { plainLine } from "../../text/plain-line.ts";
import { Markdown } from "../../text/markdown.tsx";
import { useFold } from "./fold-state.tsx";
import { type Row, Rows } from "./rows.ts";
import { useSession } from "../../state/session-context.ts";
import { textOf } from "../../tool/describe-tool.ts";
import { ToolFrame } from "./tool/tool-frame.tsx";
import { ToolState } from "./tool/tool-state.tsx";
import { useNow } from "../../ui/use-now.ts";

/** A long transcript is cut at its beginning: nested scrolling would make it hard to read. */
const SHOWN = 60;

/** A subagent with its task and answer. Its own messages are loaded when the row is opened. */
export function SubtaskRow({
  part,
  call,
  renderRow,
}: {
  part: PartOf<"subtask">;
  call: PartOf<"tool"> | undefined;
  renderRow: (row: Row) => ReactNode;
}) {
  const [isOpen, toggle] = useFold(part.id, false);
  const isRunning = part.status === "running";
  const now = useNow(isRunning);
  const title = call?.input?.["description"];
  const since =
    part.at === null ? undefined : (part.ended_at === null ? now : Date.parse(part.ended_at)) - Date.parse(part.at);
  const answer = part.exchange.findLast(({ type }) => type === "received");
  const words = answer ? textOf(answer.content) : "";
  return (
    <ToolFrame
      kind="agent"
      verb={part.agent ?? "Subagent"}
      subject={<span className="font-sans text-sm">{typeof title === "string" ? title : ""}</span>}
      note={isOpen || isRunning ? undefined : plainLine(words.split("\n", 1)[0]!)}
      state={
        isRunning && call?.state.type === "running" ? (
          <ToolState part={call} />
        ) : (
          <span className="ml-auto shrink-0 pl-2 text-xs text-ink-faint tabular-nums">
            {part.stop_reason === "retries_exhausted" && <span className="text-bad">failed · </span>}
            {since !== undefined && since >= 0 && duration(since)}
          </span>
        )
      }
      isOpen={isOpen}
      onToggle={toggle}
    >
      <div className="max-h-[70vh] overflow-y-auto border-l-2 border-line px-4 pb-2">
        <SubagentMessages thread={part.thread} isRunning={isRunning} answer={words} renderRow={renderRow} />
      </div>
    </ToolFrame>
  );
}

/** The messages of a subagent, or of an agent in a workflow run, loaded and followed while they are shown. */
export function SubagentMessages({
  thread,
  isRunning,
  answer,
  renderRow,
}: {
  thread: string;
  isRunning: boolean;
  answer: string;
  renderRow: (row: Row) => ReactNode;
}) {
  const session = useSession();
  const [log] = useState(() => new LiveLog(session.id, { thread }));
  const [rows] = useState(() => new Rows(thread));
  const messages = useLive(log.messages);
  const hasEarlier = useLive(log.hasEarlier);
  const failure = useLive(log.failure);
  useEffect(() => {
    const end = new AbortController();
    void log.follow(end.signal);
    return () => end.abort();
  }, [log]);
  const all = rows.read(messages, isRunning);
  const shown = all.slice(-SHOWN);
  if (failure) return <p className="py-2 text-sm text-bad">{failure.message}</p>;
  if (hasEarlier === undefined) return <p className="py-2 text-sm text-ink-faint">Loading …</p>;
  return (
    <>
      {(hasEarlier || all.length > shown.length) && (
        <p className="py-2 text-xs text-ink-faint">Earlier steps are not shown.</p>
      )}
      {shown.map(renderRow)}
      {messages.length === 0 && answer !== "" && <Markdown text={answer} />}
    </>
  );
}
