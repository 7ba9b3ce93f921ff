import { type Ref, useImperativeHandle, useRef } from "react";
import { useHighlighter } from "../../text/use-highlighter.ts";
import type { ErrorPlace } from "./error-place.ts";

export interface SqlEditorHandle {
  /** Replaces the selection and puts the caret behind the text. */
  insert(text: string): void;
}

const LAYER =
  "col-start-1 row-start-1 min-h-36 px-3 py-2.5 font-mono text-sm leading-6 whitespace-pre-wrap wrap-anywhere pointer-coarse:text-[1rem]";

/** A text area with coloured SQL behind it. It works with every keyboard, screen reader and phone. */
export function SqlEditor({
  value,
  onChange,
  place,
  handle,
  describedBy,
}: {
  value: string;
  onChange: (sql: string) => void;
  /** Where the last error is. */
  place: ErrorPlace | undefined;
  handle: Ref<SqlEditorHandle>;
  /** The id of the error message. */
  describedBy: string | undefined;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const highlighter = useHighlighter("sql");
  useImperativeHandle(handle, () => ({
    insert(text) {
      const { current } = area;
      if (!current) return;
      const { selectionStart: from, selectionEnd: to } = current;
      onChange(value.slice(0, from) + text + value.slice(to));
      requestAnimationFrame(() => {
        current.focus();
        current.setSelectionRange(from + text.length, from + text.length);
      });
    },
  }));
  return (
    <div className="max-h-80 overflow-y-auto rounded-md border border-edge bg-ground focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/40">
      <div className="grid">
        {/* The final line break gives an empty last line its height. */}
        <pre aria-hidden className={LAYER}>
          {highlighter?.highlight(value, "sql") ?? value}
          {"\n"}
        </pre>
        {place && (
          <pre aria-hidden className={`${LAYER} text-transparent`}>
            {value.slice(0, place.from)}
            <mark className="bg-transparent text-transparent underline decoration-bad decoration-wavy decoration-1 underline-offset-4">
              {value.slice(place.from, place.to) || " "}
            </mark>
            {value.slice(place.to)}
            {"\n"}
          </pre>
        )}
        <textarea
          ref={area}
          aria-label="SQL"
          aria-describedby={describedBy}
          aria-invalid={describedBy === undefined ? undefined : true}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          placeholder="select … (one statement that only reads)"
          className={`${LAYER} resize-none overflow-hidden bg-transparent text-transparent caret-ink placeholder:text-ink-faint focus:outline-none`}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      </div>
    </div>
  );
}
