import type { LucideIcon } from "lucide-react";

/** A sign that means something by itself, with the word for who does not see it. */
export function LabelledIcon({ icon: Icon, words, className }: { icon: LucideIcon; words: string; className: string }) {
  return (
    <span title={words} className="inline-flex shrink-0">
      <Icon aria-hidden className={className} />
      <span className="sr-only">{words}</span>
    </span>
  );
}
