import type { ComponentProps, ReactNode } from "react";
import { Kbd } from "./kbd.tsx";

const LOOKS = {
  /** What one most likely wants; once in a group. */
  primary: "bg-accent text-on-accent hover:opacity-90",
  plain: "border border-line-strong bg-surface text-ink hover:bg-raised",
  quiet: "text-ink-soft hover:bg-raised hover:text-ink",
  danger: "border border-bad/50 bg-surface text-bad hover:bg-bad-soft",
} as const;

export function Button({
  look = "plain",
  keys,
  icon,
  children,
  className = "",
  type = "button",
  ...rest
}: ComponentProps<"button"> & { look?: keyof typeof LOOKS; keys?: string | undefined; icon?: ReactNode }) {
  return (
    <button
      type={type}
      {...rest}
      className={`inline-flex min-h-10 shrink-0 items-center justify-center gap-1.5 rounded-md px-2.5 text-sm font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 md:min-h-8 ${LOOKS[look]} ${className}`}
    >
      {icon}
      {children}
      {keys !== undefined && <Kbd keys={keys} />}
    </button>
  );
}
