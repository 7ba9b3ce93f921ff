import { Hourglass } from "lucide-react";
import { useEffect, useState } from "react";
import { ago, formatDateTime } from "../text/format.ts";

const HURRY_MS = 10 * 60_000;
const NEAR_MS = 2 * 60_000;

/** When the approval expires and is denied. Counts seconds near the end. */
export function ApprovalExpiry({ at }: { at: string | null }) {
  const left = useTimeLeft(at);
  if (at === null || left === undefined) return null;
  return (
    <time
      dateTime={at}
      title={`Denied automatically at ${formatDateTime(at)}`}
      className={`flex shrink-0 items-center gap-1 text-xs tabular-nums ${left < HURRY_MS ? "font-medium text-bad" : "text-ink-soft"}`}
    >
      <Hourglass aria-hidden className="size-3" />
      <span className="sr-only">Denied automatically </span>
      {left <= 0 ? "expired" : left < NEAR_MS ? clock(left) : ago(at)}
    </time>
  );
}

const clock = (ms: number): string => {
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

function useTimeLeft(at: string | null): number | undefined {
  const [now, setNow] = useState(() => Date.now());
  const left = at === null ? undefined : Date.parse(at) - now;
  const pause = left === undefined ? undefined : left < NEAR_MS ? 1_000 : 20_000;
  useEffect(() => {
    if (pause === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), pause);
    return () => clearInterval(timer);
  }, [pause]);
  return left;
}
