import { formatDateTime } from "../text/format.ts";
import { useNow } from "./use-now.ts";

/** Remaining time, updated every second. */
export function Countdown({ to }: { to: string }) {
  const now = useNow(true);
  return (
    <time dateTime={to} title={formatDateTime(to)} className="tabular-nums">
      {remaining(Date.parse(to) - now)}
    </time>
  );
}

function remaining(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
