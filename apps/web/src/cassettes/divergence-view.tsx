import { describeDivergence, type ShownDivergence } from "@tandem/protocol";
import { CircleCheck, CircleX } from "lucide-react";
import { ReportPatch } from "./report-patch.tsx";

/** The first step that differs, or that none does. */
export function DivergenceView({
  name,
  steps,
  divergence,
  failures,
  isFailed = divergence !== null,
  note,
}: {
  name: string;
  steps: number;
  divergence: ShownDivergence | null;
  /** Failed assertions of a test case. */
  failures?: readonly string[];
  /** A test case may allow a difference. */
  isFailed?: boolean;
  note: string;
}) {
  const { place, why } = divergence ? describeDivergence(divergence, steps) : {};
  const Icon = isFailed ? CircleX : CircleCheck;
  return (
    <section aria-label={name} className="space-y-2">
      <h2 className="flex items-center gap-2 font-semibold">
        <Icon aria-hidden className={`size-4 shrink-0 ${isFailed ? "text-bad" : "text-good"}`} />
        <span className="min-w-0 truncate">{name}</span>
        <span className="shrink-0 text-xs font-normal text-ink-faint">{note}</span>
      </h2>
      {divergence === null && !isFailed && <p className="text-sm text-ink-soft">All {steps} steps are identical.</p>}
      {failures?.map((failure) => (
        <p key={failure} className="text-sm break-words text-bad">
          {failure}
        </p>
      ))}
      {divergence && (
        <>
          <p className="font-medium">{place}</p>
          <p className="text-sm text-ink-soft">{why}</p>
          <ReportPatch lines={divergence.diff} label={`Difference in step ${divergence.step}`} />
        </>
      )}
    </section>
  );
}
