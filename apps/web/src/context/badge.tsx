import type { ReactNode } from "react";

const LOOKS = {
  plain: "bg-raised text-ink-soft",
  accent: "bg-accent-soft text-accent",
  wait: "bg-wait-soft text-wait",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
} as const;
export type BadgeLook = keyof typeof LOOKS;

export function Badge({ look = "plain", title, children }: { look?: BadgeLook; title?: string; children: ReactNode }) {
  return (
    <span
      title={title}
      className={`inline-block shrink-0 rounded px-1.5 text-xs leading-5 whitespace-nowrap ${LOOKS[look]}`}
    >
      {children}
    </span>
  );
}
