import type { ComponentProps, ReactNode } from "react";
import { Kbd } from "./kbd.tsx";

const LOOKS = {
  /** The main action; at most one per group. */
  primary: "border border-transparent bg-accent text-on-accent hover:bg-accent/90",
  plain: "border border-line-strong bg-surface text-ink hover:bg-raised",
  quiet: "text-ink-soft hover:bg-raised hover:text-ink",
  /** An irreversible action. */
  danger: "border border-bad/50 bg-surface text-bad hover:bg-bad-soft",
} as const;

const SIZES = {
  small: "min-h-10 px-2 md:min-h-7",
  normal: "min-h-10 px-2.5 md:min-h-8",
  icon: "size-10 md:size-7",
} as const;

/** Button styles, also for links. Large enough for touch. */
export const buttonClass = (look: keyof typeof LOOKS = "plain", size: keyof typeof SIZES = "normal"): string =>
  `inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors duration-100 disabled:cursor-not-allowed disabled:opacity-50 ${LOOKS[look]} ${SIZES[size]}`;

export function Button({
  look = "plain",
  size = "normal",
  keys,
  icon,
  children,
  className = "",
  type = "button",
  ...rest
}: ComponentProps<"button"> & {
  look?: keyof typeof LOOKS;
  /** `icon` has no text and needs an `aria-label`. */
  size?: keyof typeof SIZES;
  keys?: string | undefined;
  icon?: ReactNode;
}) {
  return (
    <button type={type} {...rest} className={`${buttonClass(look, size)} ${className}`}>
      {icon}
      {children}
      {keys !== undefined && <Kbd keys={keys} />}
    </button>
  );
}
