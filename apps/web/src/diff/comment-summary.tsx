import { type ReactNode, useState } from "react";
import { Button } from "../ui/button.tsx";

/** The number of comments, message they become, and the actions for it. */
export function CommentSummary({
  count,
  prompt,
  className,
  children,
}: {
  count: number;
  prompt: string;
  className: string;
  children: ReactNode;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <section aria-label="Comments" className={className}>
      {isShown && (
        <pre className="mb-2 max-h-60 overflow-auto rounded-md bg-raised px-3 py-2 font-mono text-xs whitespace-pre-wrap">
          {prompt}
        </pre>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-sm">
          {count} {count === 1 ? "comment" : "comments"}
        </span>
        <Button look="quiet" size="small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide" : "Show"} message
        </Button>
        {children}
      </div>
    </section>
  );
}
