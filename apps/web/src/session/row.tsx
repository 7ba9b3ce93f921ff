import { memo } from "react";
import { Markdown } from "../text/markdown.tsx";
import type { RowOf } from "./timeline.tsx";
import { ToolCard } from "./tool-card.tsx";

export const Row = memo(
  function Row({ row: { message, part } }: { row: RowOf }) {
    switch (part.type) {
      case "text":
        return message.role === "user" ? (
          <div className="my-3 ml-auto w-fit max-w-[85%] rounded-xl bg-accent-soft px-3 py-2 whitespace-pre-wrap">
            {part.text}
          </div>
        ) : (
          <div className="py-1.5">
            <Markdown text={part.text} />
          </div>
        );
      case "reasoning":
        return (
          <details className="py-1 text-sm text-ink-faint">
            <summary className="cursor-pointer select-none">Thought{part.preview ? " …" : ""}</summary>
            <div className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap">
              {part.text || "The model's thoughts are not shown."}
            </div>
          </details>
        );
      case "tool":
        return <ToolCard part={part} />;
      case "notice":
        return <p className="py-1 text-sm text-ink-faint">{part.text}</p>;
      case "error":
        return <p className="my-1 rounded-md bg-bad-soft px-3 py-2 text-bad">{part.error.message}</p>;
      default:
        return <p className="py-1 text-xs text-ink-faint">{part.type}</p>;
    }
  },
  (before, after) => before.row.part === after.row.part,
);
