import type { Choice } from "./use-suggestions.ts";

/** Suggestions, chosen with the arrow keys. The focus stays in the text field. */
export function CompletionList({
  id,
  sign,
  choices,
  current,
  onChoose,
  side = "above",
}: {
  id: string;
  sign: "/" | "@";
  choices: readonly Choice[];
  current: number;
  onChoose: (choice: Choice) => void;
  /** Position relative to the field. */
  side?: "above" | "below";
}) {
  // No HTML element is a list next to a field that keeps the focus.
  /* oxlint-disable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */
  return (
    <div
      id={id}
      role="listbox"
      aria-label={sign === "/" ? "Commands" : "Files"}
      className={`absolute left-0 z-20 animate-appear max-h-72 ${side === "above" ? "bottom-full mb-1.5" : "top-full mt-1"} w-full overflow-y-auto rounded-xl border border-line-strong bg-surface p-1 shadow-float`}
    >
      {choices.map((choice, index) => (
        <div
          key={choice.name}
          id={`${id}-${index}`}
          ref={index === current ? intoView : undefined}
          role="option"
          aria-selected={index === current}
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(choice);
          }}
          className={`flex cursor-pointer items-baseline gap-3 rounded-lg px-2.5 py-1 text-sm max-md:py-2 ${index === current ? "bg-raised" : ""}`}
        >
          <span className="min-w-0 shrink-0 truncate font-mono text-xs">
            <span className="text-ink-faint">{sign}</span>
            {choice.name}
          </span>
          <span className="min-w-0 truncate text-xs text-ink-faint">{choice.note}</span>
        </div>
      ))}
    </div>
  );
  /* oxlint-enable jsx-a11y/prefer-tag-over-role, jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */
}

const intoView = (element: HTMLElement | null): void => {
  element?.scrollIntoView({ block: "nearest" });
};
