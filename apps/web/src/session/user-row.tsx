import type { Message } from "@tandem/protocol";
import { Clock3, CornerDownRight, Undo2 } from "lucide-react";
import { exactly } from "../text/format.ts";
import { FileBlock } from "./file-block.tsx";

/** What somebody put to the agent. It begins a turn, so it stands out from what follows. */
export function UserRow({ message }: { message: Message }) {
  const { delivery, thread } = message;
  const files = message.parts.filter((part) => part.type === "file");
  const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const isWaiting = delivery?.type === "waiting";
  const isDropped = delivery?.type === "dropped";
  const look = isWaiting || isDropped ? "border border-dashed border-line-strong" : "bg-accent-soft";
  return (
    <div
      className="flex flex-col items-end gap-1.5 pt-5 pb-2"
      title={message.created_at ? exactly(message.created_at) : ""}
    >
      {files.map(({ id, file }) => (
        <FileBlock key={id} file={file} />
      ))}
      {text !== "" && (
        <div
          className={`max-w-[85%] rounded-2xl rounded-br-md px-3.5 py-2 wrap-anywhere whitespace-pre-wrap ${look} ${isDropped ? "text-ink-faint line-through" : ""}`}
        >
          {thread !== null && (
            <span className="mb-0.5 flex items-center gap-1 text-xs text-ink-faint">
              <CornerDownRight aria-hidden className="size-3" /> from the agent that called it
            </span>
          )}
          {text}
        </div>
      )}
      {isWaiting && (
        <p className="flex items-center gap-1 text-xs text-ink-faint">
          <Clock3 aria-hidden className="size-3" /> Waits for its turn
        </p>
      )}
      {isDropped && <p className="text-xs text-wait">Not put to the agent: {delivery.reason}</p>}
      {message.rewound !== undefined && (
        <p className="flex items-center gap-1 text-xs text-ink-faint">
          <Undo2 aria-hidden className="size-3" /> Rewound: the agent does not know of this any more
        </p>
      )}
    </div>
  );
}
