import type { Message } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { Clock3, CornerDownRight, Undo2 } from "lucide-react";
import { isPainted } from "../../live/first-paint.ts";
import { useLive } from "../../live/live-value.ts";
import { formatDateTime } from "../../text/format.ts";
import { Markdown } from "../../text/markdown.tsx";
import { messageText } from "../../text/message-text.ts";
import { withdrawMessage } from "../composer/withdrawn-message.ts";
import { FileBlock } from "./file-block.tsx";
import { OutcomeCard } from "./outcome-row.tsx";
import { MessageActions } from "./message-actions.tsx";
import { useSession } from "../../state/session-context.ts";

/** A message of the user, which starts a turn. */
export function UserRow({ message }: { message: Message }) {
  const { delivery, thread } = message;
  const files = message.parts.filter((part) => part.type === "file");
  const text = messageText(message.parts);
  const isWaiting = delivery?.type === "waiting";
  const isDropped = delivery?.type === "dropped";
  const look = isWaiting || isDropped ? "border border-dashed border-line-strong" : "bg-accent-soft";
  return (
    <div
      className="flex flex-col items-end gap-1.5 pt-5 pb-2"
      title={useLive(isPainted) && message.created_at ? formatDateTime(message.created_at) : ""}
    >
      {message.parts.map((part) => part.type === "outcome" && <OutcomeCard key={part.id} part={part} />)}
      {files.map(({ id, file }) => (
        <FileBlock key={id} file={file} />
      ))}
      {text !== "" && (
        <div
          className={`max-w-[85%] rounded-2xl rounded-br-md px-3.5 py-2 wrap-anywhere whitespace-pre-wrap ${look} ${isDropped ? "text-ink-faint line-through" : ""}`}
        >
          {thread !== null && (
            <span className="mb-0.5 flex items-center gap-1 text-xs text-ink-faint">
              <CornerDownRight aria-hidden className="size-3" /> from the parent agent
            </span>
          )}
          {/* Shows the text as typed; only code blocks are rendered. */}
          {text.includes("```") ? <Markdown text={text} /> : text}
        </div>
      )}
      {isWaiting && <QueuedMessage message={message} />}
      {isDropped && <p className="text-xs text-wait">Not delivered: {delivery.reason}</p>}
      {message.rewound !== undefined && (
        <p className="flex items-center gap-1 text-xs text-ink-faint">
          <Undo2 aria-hidden className="size-3" /> Rewound: no longer part of the agent’s conversation
        </p>
      )}
      {thread === null && <MessageActions message={message} text={text} />}
    </div>
  );
}

/** A queued message can be withdrawn and edited. */
function QueuedMessage({ message }: { message: Message }) {
  const { id } = useSession();
  const back = useMutation({ mutationFn: () => withdrawMessage(id, message) });
  return (
    <p className="flex items-center gap-2 text-xs text-ink-faint">
      {back.error ? (
        <span role="alert" className="text-bad">
          {back.error.message}
        </span>
      ) : (
        <span className="flex items-center gap-1">
          <Clock3 aria-hidden className="size-3" /> Queued
        </span>
      )}
      {message.thread === null && (
        <button
          type="button"
          disabled={back.isPending}
          onClick={() => back.mutate()}
          className="rounded px-1 text-ink-soft underline decoration-line-strong underline-offset-2 hover:text-ink hover:decoration-current max-md:min-h-10 max-md:px-2"
        >
          Withdraw
        </button>
      )}
    </p>
  );
}
