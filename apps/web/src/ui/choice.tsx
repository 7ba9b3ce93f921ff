import type { ReactNode } from "react";

/** A radio button or checkbox; the whole label is clickable. */
export function Choice({
  type = "radio",
  name,
  label,
  hint,
  isChosen,
  onChoose,
  children,
  isBad = false,
}: {
  type?: "radio" | "checkbox";
  name: string;
  label: string;
  hint?: string | undefined;
  isChosen: boolean;
  onChoose: () => void;
  children?: ReactNode;
  /** A dangerous choice, shown in red. */
  isBad?: boolean;
}) {
  return (
    <label className="flex cursor-pointer items-start gap-2.5 rounded-md border border-line px-2.5 py-1.5 hover:border-line-strong has-checked:border-accent has-checked:bg-accent-soft pointer-coarse:min-h-10">
      <input
        type={type}
        name={name}
        aria-label={label}
        className="mt-1 accent-accent"
        checked={isChosen}
        onChange={onChoose}
      />
      <span className="min-w-0 flex-1">
        <span className={`block text-sm font-medium ${isBad ? "text-bad" : ""}`}>{label}</span>
        {hint !== undefined && (
          <span className="block text-xs text-ink-soft wrap-anywhere" title={hint}>
            {hint}
          </span>
        )}
      </span>
      {children}
    </label>
  );
}
