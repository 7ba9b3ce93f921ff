import { ShieldAlert } from "lucide-react";

/** A refusal is a result: the reason, and what to do. */
export function Refusal({
  title,
  message,
  fix,
  className = "",
}: {
  title: string;
  message: string;
  fix: string | undefined;
  className?: string;
}) {
  return (
    <div role="alert" className={`flex gap-2.5 rounded-md bg-bad-soft px-3 py-2 text-sm ${className}`}>
      <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1 space-y-0.5 wrap-anywhere">
        <p className="font-medium text-bad">{title}</p>
        <p>{message}</p>
        {fix !== undefined && fix !== "" && (
          <p>
            <span className="font-medium">Fix:</span> {fix}
          </p>
        )}
      </div>
    </div>
  );
}
