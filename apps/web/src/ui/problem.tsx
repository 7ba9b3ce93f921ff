import { TriangleAlert } from "lucide-react";
import { Button } from "./button.tsx";

/** An error message next to the action that failed. Renders nothing without an error. */
export function Problem({
  error,
  onRetry,
  className = "",
}: {
  error: unknown;
  onRetry?: () => void;
  className?: string;
}) {
  if (error === undefined || error === null) return null;
  return (
    <div
      role="alert"
      className={`flex items-start gap-2 rounded-md bg-bad-soft px-2.5 py-1.5 text-sm text-bad ${className}`}
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p className="min-w-0 flex-1 break-words">
        {error instanceof Error ? error.message : "The request failed for an unknown reason."}
      </p>
      {onRetry && (
        <Button look="quiet" size="small" onClick={onRetry} className="-my-0.5">
          Try again
        </Button>
      )}
    </div>
  );
}
