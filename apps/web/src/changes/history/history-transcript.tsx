import type { Message, Part, PartOf } from "@tandem/protocol";
import { useLayoutEffect, useRef } from "react";
import { useSession } from "../../state/session-context.ts";
import { describeTool, shortened } from "../../tool/describe-tool.ts";
import { isTodoUpdate } from "../../tool/tool-family.ts";
import { Markdown } from "../../text/markdown.tsx";

const SHOWN = 60;

/** The transcript up to one point, scrolled to its end. */
export function HistoryTranscript({ messages }: { messages: readonly Message[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && messages.length > 0) element.scrollTop = element.scrollHeight;
  }, [messages]);
  const parts = messages
    .filter(({ thread }) => thread === null)
    .flatMap((message) => message.parts.map((part) => ({ message, part })))
    .filter(({ part }) => isShown(part))
    .slice(-SHOWN);
  return (
    <div
      ref={scroller}
      role="log"
      aria-live="off"
      aria-label="Conversation up to this point"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- makes the scroll area reachable by keyboard
      tabIndex={0}
      className="relative min-h-0 overflow-y-auto px-4 py-3"
    >
      <div className="mx-auto max-w-3xl space-y-2">
        {parts.map(({ message, part }) => (
          <div
            key={`${message.id}/${part.type}/${part.id}`}
            className={message.rewound === undefined ? "" : "opacity-70"}
          >
            <Line part={part} isOwn={message.role === "user"} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Line({ part, isOwn }: { part: Part; isOwn: boolean }) {
  switch (part.type) {
    case "text":
      return isOwn ? (
        <p className="ml-auto w-fit max-w-[85%] rounded-xl bg-accent-soft px-3 py-1.5 whitespace-pre-wrap wrap-anywhere">
          {part.text}
        </p>
      ) : (
        <Markdown text={part.text} />
      );
    case "tool":
      return <ToolLine part={part} />;
    case "reasoning":
    case "redacted_reasoning":
      return <p className="text-sm text-ink-faint">Thought</p>;
    case "notice":
      return <p className="text-sm text-ink-faint">{part.text}</p>;
    case "error":
      return <p className="rounded-md bg-bad-soft px-2.5 py-1 text-sm text-bad">{part.error.message}</p>;
    case "outcome":
      return <p className="ml-auto w-fit max-w-[85%] rounded-xl bg-accent-soft px-3 py-1.5">{part.description}</p>;
    case "evaluation":
      return <p className="text-sm text-ink-soft">Evaluation: {part.state.replaceAll("_", " ")}</p>;
    case "compaction":
      return <p className="text-sm text-ink-faint">The conversation was compacted.</p>;
    case "interruption":
      return <p className="text-sm text-ink-faint">Stopped by a user.</p>;
    case "patch":
      return (
        <p className="text-sm text-ink-faint">
          {part.files.length === 1 ? "1 file" : `${part.files.length} files`} edited
        </p>
      );
    case "subtask":
      return <p className="text-sm text-ink-soft">Subagent</p>;
    case "workflow":
      return <p className="text-sm text-ink-soft">Workflow run: {part.name ?? part.id}</p>;
    default:
      return <p className="text-sm text-ink-faint">{part.type.replaceAll("_", " ")}</p>;
  }
}

function ToolLine({ part }: { part: PartOf<"tool"> }) {
  const { folder } = useSession();
  const { verb, subject } = describeTool(part);
  return (
    <p className="flex items-baseline gap-2 rounded-md border border-line bg-surface px-2.5 py-1 text-sm">
      <span className="shrink-0 font-medium">{verb}</span>
      <span title={subject} className="min-w-0 flex-1 truncate font-mono text-xs text-ink-soft">
        {shortened(subject.split("\n", 1)[0]!, folder)}
      </span>
      <span className={`text-xs ${part.state.type === "error" ? "text-bad" : "text-ink-faint"}`}>
        {STATES[part.state.type]}
      </span>
    </p>
  );
}

/** The sidebar shows the todo list, so calls that only update it are left out. */
function isShown(part: Part): boolean {
  if (part.type === "tool") return !isTodoUpdate(part) || part.state.type === "error";
  return part.type !== "step" && part.type !== "todo";
}

const STATES = { pending: "waits", running: "runs", completed: "done", error: "failed" } as const;
