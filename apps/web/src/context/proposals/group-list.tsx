import type { HunkGroup } from "@tandem/protocol";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { share } from "../../text/format.ts";
import type { useVerdict } from "./proposal-api.ts";

/** Groups of a large proposal. Each can be read, accepted or rejected as a whole. */
export function GroupList({
  groups,
  shown,
  onShow,
  verdict,
}: {
  groups: readonly HunkGroup[];
  /** The group whose files are listed; undefined for all. */
  shown: HunkGroup | undefined;
  onShow: (group: HunkGroup | undefined) => void;
  verdict: ReturnType<typeof useVerdict>;
}) {
  const [asked, setAsked] = useState<{ group: HunkGroup; action: "accept" | "reject" }>();
  const ready = asked ? asked.group.counts.open - asked.group.held : 0;
  return (
    <section aria-labelledby="groups" className="mt-4">
      <div className="mb-1.5 flex items-center gap-3">
        <h3 id="groups" className="text-sm font-medium text-ink-soft">
          Groups
        </h3>
        {shown && (
          <Button look="quiet" size="small" onClick={() => onShow(undefined)}>
            Show all files
          </Button>
        )}
      </div>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {groups.map((group) => (
          <li key={keyOf(group)} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
            <button
              type="button"
              aria-pressed={shown !== undefined && keyOf(shown) === keyOf(group)}
              onClick={() => onShow(group)}
              className="min-w-48 flex-1 rounded text-left aria-pressed:font-medium pointer-coarse:min-h-10"
            >
              <span className="block text-sm hover:underline">{group.title}</span>
              <span className="block text-xs text-ink-faint">
                <span className="font-mono">{group.area}</span>, {count(group.counts.open, "open change")} in{" "}
                {count(group.files, "file")}
                {group.confidence && `, confidence ${range(group.confidence)}`}
                {group.held > 0 && `, ${group.held.toLocaleString()} on hold`}
              </span>
            </button>
            {group.counts.open > 0 && (
              <span className="flex gap-1.5">
                <Button
                  size="small"
                  disabled={verdict.isPending}
                  onClick={() => setAsked({ group, action: "reject" })}
                  aria-label={`Reject group: ${group.title}, ${group.area}`}
                >
                  Reject
                </Button>
                <Button
                  size="small"
                  disabled={verdict.isPending || group.counts.open === group.held}
                  onClick={() => setAsked({ group, action: "accept" })}
                  aria-label={`Accept group: ${group.title}, ${group.area}`}
                >
                  Accept
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {asked?.action === "accept" && (
        <Confirm
          onClose={() => setAsked(undefined)}
          title="Accept this group?"
          verb="Accept"
          look="primary"
          act={() => verdict.mutateAsync({ action: "accept", filter: asked.group.filter })}
        >
          {count(ready, "change")} ({asked.group.title}, {asked.group.area}) {ready === 1 ? "is" : "are"} committed to
          the context. You can undo this.
        </Confirm>
      )}
      {asked?.action === "reject" && (
        <Confirm
          onClose={() => setAsked(undefined)}
          title="Reject this group?"
          verb="Reject"
          act={() => verdict.mutateAsync({ action: "reject", filter: asked.group.filter })}
        >
          {count(asked.group.counts.open, "change")} ({asked.group.title}, {asked.group.area}) will not be proposed
          again.
        </Confirm>
      )}
    </section>
  );
}

const keyOf = ({ kind, origin, certain, area }: HunkGroup): string => [kind, origin, certain, area].join(" ");

const count = (value: number, word: string): string => `${value.toLocaleString()} ${word}${value === 1 ? "" : "s"}`;

const range = ({ min, max }: { min: number; max: number }): string =>
  min === max ? share(min) : `${share(min)} to ${share(max)}`;
