import { Check, CircleDashed, LoaderCircle } from "lucide-react";
import { LabelledIcon } from "../labelled-icon.tsx";
import { count } from "../../text/format.ts";
import type { JobProgress, Stage } from "./job-progress.ts";

/** The stages in order: done, running with a progress bar, or interrupted. */
export function StageList({ progress, isOver }: { progress: JobProgress; isOver: boolean }) {
  if (progress.stages.length === 0) return isOver ? null : <p className="mt-4 text-sm text-ink-soft">Starting …</p>;
  return (
    <ol className="mt-4 divide-y divide-line rounded-lg border border-line bg-surface">
      {progress.stages.map((stage) => (
        <li key={stage.name} className="flex gap-2.5 px-3 py-2">
          <span className="mt-0.5">
            {stage.counts ? (
              <LabelledIcon icon={Check} words="done" className="size-4 text-good" />
            ) : isOver ? (
              <LabelledIcon icon={CircleDashed} words="not finished" className="size-4 text-ink-faint" />
            ) : (
              <LabelledIcon icon={LoaderCircle} words="in progress" className="size-4 animate-spin text-accent" />
            )}
          </span>
          <div className="min-w-0 flex-1">
            <div className="flex flex-wrap items-baseline gap-x-3">
              <span>{stage.name}</span>
              <span className="ml-auto text-sm text-ink-faint tabular-nums">
                {stage.counts ? counted(stage.counts) : left(stage)}
              </span>
            </div>
            {!stage.counts && stage.total !== null && stage.total > 0 && (
              <progress
                value={stage.done}
                max={stage.total}
                aria-label={stage.name}
                className="mt-1 block h-1.5 w-full accent-accent"
              />
            )}
            {!stage.counts && stage.item !== null && (
              <p className="truncate font-mono text-xs text-ink-faint">{stage.item}</p>
            )}
          </div>
        </li>
      ))}
      {progress.units
        .filter(({ outcome }) => outcome !== "done")
        .map((unit) => (
          <li key={`unit-${unit.name}`} className="px-3 py-2 text-sm">
            <span className="font-mono text-xs">{unit.name}</span>{" "}
            <span className="text-ink-faint">
              {unit.outcome === null
                ? `step ${unit.step}${unit.budget === null ? "" : ` of ${unit.budget}`}${unit.tools.length > 0 ? `: ${unit.tools.join(", ")}` : ""}`
                : (unit.message ?? unit.outcome)}
            </span>
          </li>
        ))}
    </ol>
  );
}

const counted = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => `${count(value)} ${name.replaceAll("_", " ")}`)
    .join(", ") || "nothing";

const left = ({ done, total }: Stage): string =>
  total === null ? (done > 0 ? count(done) : "") : `${count(done)} of ${count(total)}`;
