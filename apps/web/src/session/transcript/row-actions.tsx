import { Check, Copy, Link2 } from "lucide-react";
import { useState } from "react";
import type { Row } from "./rows.ts";
import { useSession } from "../../state/session-context.ts";

/** Copies the text of a row or a link to it. Visible on hover. */
export function RowActions({ row }: { row: Row }) {
  const { id } = useSession();
  const [done, setDone] = useState<"text" | "link">();
  // A user message has its own actions below it.
  if (row.type === "footer" || row.type === "user" || row.type === "gap") return null;
  const part = idOf(row);
  const text = textOfRow(row);
  const copy = (what: "text" | "link", value: string) => (): void => {
    void navigator.clipboard.writeText(value).then(() => {
      setDone(what);
      setTimeout(() => setDone(undefined), 1_500);
    });
  };
  const look = "rounded p-1 text-ink-faint hover:bg-raised hover:text-ink";
  return (
    <div className="absolute top-1 left-full ml-1 hidden gap-0.5 opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 lg:flex">
      <button
        type="button"
        className={look}
        aria-label="Copy link"
        title="Copy link"
        onClick={copy("link", `${location.origin}/sessions/${id}?part=${encodeURIComponent(part)}`)}
      >
        {done === "link" ? <Check aria-hidden className="size-3.5" /> : <Link2 aria-hidden className="size-3.5" />}
      </button>
      {text !== undefined && (
        <button type="button" className={look} aria-label="Copy text" title="Copy text" onClick={copy("text", text)}>
          {done === "text" ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
        </button>
      )}
    </div>
  );
}

function idOf(row: Exclude<Row, { type: "footer" | "user" | "gap" }>): string {
  return row.type === "group" ? row.parts[0]!.id : row.part.id;
}

function textOfRow(row: Row): string | undefined {
  return row.type === "part" && row.part.type === "text" ? row.part.text : undefined;
}
