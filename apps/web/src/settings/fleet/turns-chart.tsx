import type { FleetStatus } from "@tandem/protocol";

/** Turns per minute, with a bar for each of the last minutes. */
export function TurnsChart({ throughput }: { throughput: FleetStatus["throughput"] }) {
  const { turns_per_minute: rate, minutes } = throughput;
  const most = Math.max(1, ...minutes);
  return (
    <div className="flex items-end gap-3">
      <span className="tabular-nums">{rate} a minute</span>
      <span className="sr-only">{`Of each of the last ${minutes.length} minutes: ${minutes.join(", ")}`}</span>
      <span aria-hidden className="flex h-5 items-end gap-0.5">
        {minutes.map((count, index) => (
          <span
            // A minute is identified by its position.
            key={`${index}`}
            className={`w-2 rounded-sm ${count === 0 ? "bg-line" : "bg-accent"}`}
            style={{ height: count === 0 ? "2px" : `${Math.max(15, (count / most) * 100)}%` }}
          />
        ))}
      </span>
      <span className="text-sm text-ink-faint">last ten minutes</span>
    </div>
  );
}
