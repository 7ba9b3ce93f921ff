import { Check, Copy } from "lucide-react";
import { memo, useState } from "react";
import { useHighlighter } from "./use-highlighter.ts";
import { escapeHidden } from "./escape-hidden.ts";

const LONGEST = 20_000;

/** Code, highlighted once the highlighter has loaded. */
export const Code = memo(function Code({
  text,
  language,
  isWhole = false,
}: {
  text: string;
  language: string | undefined;
  /** Wraps long lines, so that a user approves nothing that is out of view. */
  isWhole?: boolean;
}) {
  const highlighter = useHighlighter(language);
  const shown = escapeHidden(text);
  const coloured =
    language !== undefined && shown.length <= LONGEST ? highlighter?.highlight(shown, language) : undefined;
  return (
    <div className="group/code relative rounded-md border border-line bg-raised">
      <pre
        className={`overflow-x-auto px-3 py-2 font-mono text-xs leading-relaxed ${isWhole ? "wrap-anywhere whitespace-pre-wrap" : ""}`}
        tabIndex={0}
        aria-label={`Code${language ? ` (${language})` : ""}`}
      >
        <code>{coloured ?? shown}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
});

export function CopyButton({ text }: { text: string }) {
  const [isDone, setDone] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    });
  };
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={isDone ? "Copied" : "Copy"}
      className="absolute top-1 right-1 rounded border border-line bg-surface p-1 text-ink-faint opacity-0 hover:text-ink focus-visible:opacity-100 group-hover/code:opacity-100"
    >
      {isDone ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
    </button>
  );
}
