import type { LucideIcon } from "lucide-react";

/** An icon that carries meaning, with a text for screen readers. */
export function LabelledIcon({ icon: Icon, words, className }: { icon: LucideIcon; words: string; className: string }) {
  return (
    <span title={words} className="inline-flex shrink-0">
      <Icon aria-hidden className={className} />
      <span className="sr-only">{words}</span>
    </span>
  );
}
