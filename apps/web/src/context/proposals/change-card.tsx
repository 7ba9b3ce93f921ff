import { Pencil } from "lucide-react";
import { useState, useEffect } from "react";
import { commentId } from "../../diff/line-comments.ts";
import type { useComments } from "../../diff/use-comments.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../badge.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { HunkCard } from "./hunk-card.tsx";
import type { LineNotes } from "./hunk-lines.tsx";
import { NewPage } from "./new-page.tsx";
import type { Change, Hunk, useVerdict } from "./proposal-api.ts";
import { factsOf, isMetricsFile, isTableFile } from "./fact-groups.ts";
import type { metricFactsOf } from "./metric-facts.ts";

const SHOW = { metrics: "Show definitions", table: "Show table", page: "Show page" };

/** One file of a proposal with its hunks. */
export function ChangeCard({
  change,
  hunks,
  verdict,
  isFolded,
  comments,
}: {
  change: Change;
  hunks: readonly Hunk[];
  verdict: ReturnType<typeof useVerdict>;
  isFolded: boolean;
  comments: ReturnType<typeof useComments>;
}) {
  const [isEditing, setEditing] = useState(false);
  const [isOpen, setOpen] = useState(!isFolded);
  const page = change.path.endsWith(".md") ? change.after : null;
  const isMetrics = isMetricsFile(change);
  const isTable = isTableFile(change) || isMetrics;
  const metricFactsOf = useMetricFacts(isMetrics);
  // A changed page is first shown as its lines: the page alone would not show the difference.
  const [isSource, setSource] = useState(!isTable && (page === null || change.before !== null));
  const notes: LineNotes = {
    path: change.path,
    put: comments.put,
    drop: comments.drop,
    of: (line) => comments.comments.find((comment) => commentId(comment) === commentId(line)),
  };
  const canEdit = change.after !== null && change.hunks.some(({ state }) => state === "open" || state === "conflict");
  return (
    <section aria-label={change.path} className="overflow-clip rounded-lg border border-line bg-surface">
      <div className="flex items-center gap-2 border-b border-line bg-raised py-1 pr-1.5 pl-3">
        <h3 className="min-w-0">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="min-h-7 text-left font-mono text-xs font-medium wrap-anywhere pointer-coarse:min-h-10"
          >
            {change.path}
          </button>
        </h3>
        {change.before === null && <Badge look="good">new</Badge>}
        {change.after === null && <Badge look="bad">removed</Badge>}
        {(page !== null || isTable) && (
          <Button size="small" look="quiet" className="ml-auto" onClick={() => setSource(!isSource)}>
            {isSource ? SHOW[isMetrics ? "metrics" : isTable ? "table" : "page"] : "Show source"}
          </Button>
        )}
        {canEdit && (
          <Button
            size="small"
            look="quiet"
            className={page === null && !isTable ? "ml-auto" : ""}
            onClick={() => setEditing(true)}
          >
            <Pencil aria-hidden className="size-3.5" /> Edit
          </Button>
        )}
      </div>
      {isOpen && (
        <div
          className={
            page !== null && !isSource
              ? "divide-line max-lg:divide-y lg:grid lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:divide-x"
              : ""
          }
        >
          {page !== null && !isSource && <NewPage text={page} />}
          <div className="divide-y divide-line">
            {hunks.map((hunk) => {
              const read = isMetrics ? metricFactsOf : factsOf;
              const facts = isTable && !isSource ? read?.(change, hunk) : undefined;
              return (
                <HunkCard
                  key={hunk.id}
                  hunk={hunk}
                  change={change}
                  verdict={verdict}
                  notes={notes}
                  facts={facts}
                  hasLines={isSource || (isTable && !facts)}
                  onShowLines={() => setSource(true)}
                  {...(canEdit && { onEdit: () => setEditing(true) })}
                />
              );
            })}
          </div>
        </div>
      )}
      {isEditing && <EditDialog change={change} verdict={verdict} onClose={() => setEditing(false)} />}
    </section>
  );
}

type Read = typeof metricFactsOf;

/** Reads metrics files; undefined until the YAML parser has loaded. Until then, and if that fails, the source is shown. */
function useMetricFacts(isNeeded: boolean): Read | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    if (!isNeeded) return;
    void import("./metric-facts.ts").then(
      (module) => setRead(() => module.metricFactsOf),
      () => undefined,
    );
  }, [isNeeded]);
  return read;
}
