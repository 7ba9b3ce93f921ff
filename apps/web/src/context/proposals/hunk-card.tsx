import { ShieldAlert, TriangleAlert } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Badge, type BadgeLook } from "../badge.tsx";
import { EvidenceItem } from "../evidence-item.tsx";
import { HunkLines, type LineNotes } from "./hunk-lines.tsx";
import { surroundingLines, lineRows } from "./line-rows.ts";
import type { Change, Hunk, HunkState, useVerdict } from "./proposal-api.ts";
import type { FactGroup } from "./fact-groups.ts";
import { TableHunk } from "./table-hunk.tsx";

const AROUND = 2;
const STATES: Readonly<Record<HunkState, { look: BadgeLook; word: string }>> = {
  open: { look: "wait", word: "to decide" },
  accepted: { look: "good", word: "accepted" },
  rejected: { look: "plain", word: "rejected" },
  conflict: { look: "bad", word: "conflict" },
};

/** A hunk that is accepted or rejected as a whole, with the evidence for each line. */
export function HunkCard({
  hunk,
  change,
  verdict,
  notes,
  hasLines,
  facts,
  onShowLines,
  onEdit,
}: {
  hunk: Hunk;
  change: Change;
  verdict: ReturnType<typeof useVerdict>;
  notes: LineNotes;
  /** False while the rendered page is shown instead of its source. */
  hasLines: boolean;
  /** The facts of a table, shown instead of its lines. */
  facts?: readonly FactGroup[] | undefined;
  onShowLines: () => void;
  onEdit?: () => void;
}) {
  const [lit, setLit] = useState<number>();
  const [isRejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState("");
  const rows = useMemo(() => {
    const { above, below } = surroundingLines(hunk, change.before, AROUND);
    return [...above, ...lineRows(hunk), ...below];
  }, [hunk, change.before]);
  const used = [...new Set(rows.flatMap(({ evidence }) => evidence))].sort((a, b) => a - b);
  const { look, word } = STATES[hunk.state];
  const reject = (): void => {
    verdict.mutate({ action: "reject", hunks: [hunk.id], ...(reason.trim() !== "" && { reason: reason.trim() }) });
    setRejecting(false);
  };
  return (
    <fieldset
      data-hunk={hunk.id}
      tabIndex={-1}
      aria-label={`Change ${hunk.id}, ${hunk.aspect}, ${word}`}
      className="scroll-mt-20 focus:outline-none focus:ring-2 focus:ring-accent focus:ring-inset"
    >
      <div className="flex flex-wrap items-center gap-2 px-3 py-1.5 text-sm">
        <span className="text-xs text-ink-faint tabular-nums">{hunk.id}</span>
        <Badge>{hunk.aspect}</Badge>
        {hunk.certain && (
          <Badge look="good" title="Verified against the data.">
            verified
          </Badge>
        )}
        {hunk.state !== "open" && <Badge look={look}>{word}</Badge>}
        {hunk.decided_by !== undefined && <span className="text-xs text-ink-faint">by {hunk.decided_by}</span>}
        {hunk.state === "open" && (
          <span className="ml-auto flex gap-1.5">
            <Button
              size="small"
              data-act="reject"
              disabled={verdict.isPending}
              onClick={() => setRejecting(!isRejecting)}
              aria-expanded={isRejecting}
            >
              Reject <Kbd keys="r" />
            </Button>
            <Button
              size="small"
              look="primary"
              data-act="accept"
              disabled={verdict.isPending}
              onClick={() => verdict.mutate({ action: "accept", hunks: [hunk.id] })}
            >
              Accept{hunk.held === undefined ? "" : " anyway"} <Kbd keys="a" />
            </Button>
          </span>
        )}
        {onEdit && <button type="button" data-act="edit" hidden onClick={onEdit} aria-hidden tabIndex={-1} />}
      </div>
      {isRejecting && (
        <form
          className="flex gap-2 px-3 pb-2"
          onSubmit={(event) => {
            event.preventDefault();
            reject();
          }}
        >
          <TextInput
            ref={(input) => input?.focus()}
            aria-label="Reason"
            placeholder="Reason (optional), stored with the decision"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && setRejecting(false)}
          />
          <Button type="submit" look="danger">
            Reject
          </Button>
        </form>
      )}
      {hunk.held !== undefined && (
        <p className="mx-3 mb-2 flex gap-2 rounded-md bg-wait-soft px-2.5 py-1.5 text-sm text-wait">
          <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span>
            <strong className="font-medium">On hold.</strong> {hunk.held}
          </span>
        </p>
      )}
      {hunk.note !== undefined && (
        <p
          className={`mx-3 mb-2 flex gap-2 text-sm ${hunk.state === "conflict" ? "rounded-md bg-bad-soft px-2.5 py-1.5 text-bad" : "text-ink-soft"}`}
        >
          {hunk.state === "conflict" && <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />}
          <span>{hunk.note}</span>
        </p>
      )}
      {/* The shortcut for comments shows the source first. */}
      {!hasLines && <button type="button" data-act="comment" hidden onClick={onShowLines} aria-hidden tabIndex={-1} />}
      <div className={facts ? "lg:grid lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]" : ""}>
        {facts && <TableHunk groups={facts} />}
        {hasLines && (
          <HunkLines rows={rows} lit={lit} notes={notes} onMark={(at) => setLit(lit === at ? undefined : at)} />
        )}
        {used.length > 0 && (
          <ol className="space-y-1.5 px-3 py-2.5">
            {used.map((at) => (
              <li key={at} className={`flex gap-2 rounded-md px-1 ${lit === at ? "bg-accent-soft" : ""}`}>
                <span className="w-5 shrink-0 pt-px text-right text-xs text-ink-faint tabular-nums">{at + 1}</span>
                {change.evidence[at] && <EvidenceItem item={change.evidence[at]} />}
              </li>
            ))}
          </ol>
        )}
      </div>
    </fieldset>
  );
}
