import type { PartOf } from "@tandem/protocol";
import { Brain, ChevronRight, LockKeyhole } from "lucide-react";
import { plainLine } from "../../text/plain-line.ts";
import { Markdown } from "../../text/markdown.tsx";
import { useFold } from "./fold-state.tsx";

/** Thinking of the model, folded. While it streams, the last line is shown. */
export function ReasoningRow({ part }: { part: PartOf<"reasoning"> }) {
  const [isOpen, toggle] = useFold(part.id, false);
  const preview = (part.preview ? part.text.trim().split("\n").at(-1) : part.text.trim().split("\n", 1)[0]) ?? "";
  return (
    <div className="py-0.5 text-sm text-ink-faint">
      <button
        type="button"
        onClick={toggle}
        aria-expanded={isOpen}
        className="-mx-2 flex min-h-7 w-[calc(100%+1rem)] items-center gap-2 rounded-lg px-2 py-0.5 text-left hover:bg-raised max-md:min-h-10"
      >
        <Brain aria-hidden className={`size-4 shrink-0 ${part.preview ? "animate-pulse text-accent" : ""}`} />
        <span className="shrink-0">{part.preview ? "Thinking" : "Thought"}</span>
        {!isOpen && <span className="min-w-0 truncate text-xs">{plainLine(preview)}</span>}
        <ChevronRight
          aria-hidden
          className={`ml-auto size-3.5 shrink-0 transition-transform ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      {isOpen && (
        <div className="mt-1 mb-1 ml-1.5 border-l-2 border-line pl-4">
          <Markdown text={part.text} />
        </div>
      )}
    </div>
  );
}

export function RedactedRow() {
  return (
    <p className="flex min-h-7 items-center gap-2 py-0.5 text-sm text-ink-faint">
      <LockKeyhole aria-hidden className="size-4 shrink-0" />
      Redacted reasoning: only the model can read it
    </p>
  );
}
