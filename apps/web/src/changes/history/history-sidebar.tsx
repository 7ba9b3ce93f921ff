import type { SessionCheckpoints } from "@tandem/protocol";
import { Check, Circle, CircleDot } from "lucide-react";
import { useState } from "react";
import { relativePath } from "../../text/path-labels.ts";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import { money } from "../../text/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useDiff } from "../changes-api.ts";
import { FileList } from "../file-list.tsx";
import { fileTree } from "../file-tree.ts";
import type { ReplayedState } from "./log-replay.ts";
import { PatchDiff } from "../../diff/patch-diff.tsx";

const NO_NOTES: ReadonlyMap<string, number> = new Map();

/** Cost, todos and files at one point of the history. */
export function HistorySidebar({
  session,
  state: { usd, todos, checkpoint, edited },
  checkpoints,
}: {
  session: string;
  state: ReplayedState;
  checkpoints: SessionCheckpoints["checkpoints"];
}) {
  return (
    <aside
      aria-label="State at this point"
      className="relative min-h-0 space-y-5 overflow-y-auto border-line bg-surface p-4 max-lg:border-t lg:border-l"
    >
      <section>
        <h3 className="text-xs font-medium text-ink-faint">Cost so far</h3>
        <p className="text-2xl font-semibold tabular-nums">{money(usd)}</p>
      </section>
      <section>
        <h3 className="mb-1 text-xs font-medium text-ink-faint">To do</h3>
        {todos.length === 0 && <p className="text-sm text-ink-soft">No to-do list yet.</p>}
        <ul className="space-y-1 text-sm">
          {todos.map(({ id, content, status }) => (
            <li key={id} className="flex items-start gap-2">
              {status === "completed" ? (
                <Check aria-label="Done" className="mt-0.5 size-4 shrink-0 text-good" />
              ) : status === "in_progress" ? (
                <CircleDot aria-label="In progress" className="mt-0.5 size-4 shrink-0 text-accent" />
              ) : (
                <Circle aria-label="To do" className="mt-0.5 size-4 shrink-0 text-ink-faint" />
              )}
              <span className={status === "completed" ? "text-ink-faint line-through" : ""}>{content}</span>
            </li>
          ))}
        </ul>
      </section>
      <FilesAtPoint session={session} checkpoint={checkpoint} edited={edited} checkpoints={checkpoints} />
    </aside>
  );
}

function FilesAtPoint({
  session,
  checkpoint,
  edited,
  checkpoints,
}: {
  session: string;
  checkpoint: string | null;
  edited: readonly string[];
  checkpoints: SessionCheckpoints["checkpoints"];
}) {
  const [open, setOpen] = useState<string>();
  const folder = useLive(feed.sessions).get(session)?.folder ?? "";
  const kept = checkpoints.filter((one) => one.kept);
  const first = kept[0]?.checkpoint_id;
  const isKept = checkpoint !== null && kept.some(({ checkpoint_id }) => checkpoint_id === checkpoint);
  const canTell = isKept && first !== undefined && first !== checkpoint;
  const diff = useDiff(session, { from: first ?? "", to: checkpoint ?? "" }, canTell);
  const files = canTell ? (diff.data?.files ?? []) : [];
  const shown = files.find(({ path }) => path === open);
  return (
    <section>
      <h3 className="mb-1 text-xs font-medium text-ink-faint">Files changed so far</h3>
      {checkpoint === null && <p className="text-sm text-ink-soft">No checkpoint yet.</p>}
      {checkpoint !== null && !isKept && (
        <p className="text-sm text-ink-soft">The checkpoint for this point was pruned.</p>
      )}
      {isKept && !canTell && edited.length === 0 && <p className="text-sm text-ink-soft">None.</p>}
      {canTell && diff.isPending && <p className="text-sm text-ink-faint">Loading …</p>}
      {canTell && diff.data && files.length + edited.length === 0 && <p className="text-sm text-ink-soft">None.</p>}
      <Problem error={canTell && !diff.data ? diff.error : null} onRetry={() => void diff.refetch()} />
      <FileList tree={fileTree(files)} current={open} notes={NO_NOTES} onOpen={setOpen} />
      {canTell && <p className="mt-1 text-xs text-ink-faint">As of the checkpoint before this point.</p>}
      {edited.length > 0 && (
        <>
          <h4 className="mt-2 mb-0.5 text-xs font-medium text-ink-faint">
            {canTell ? "Edited since the checkpoint" : "Edited in this turn"}
          </h4>
          <ul className="space-y-0.5 font-mono text-xs wrap-anywhere">
            {edited.map((path) => (
              <li key={path}>{relativePath(folder, path)}</li>
            ))}
          </ul>
        </>
      )}
      {shown && (
        <Dialog
          onClose={() => setOpen(undefined)}
          title={<span className="font-mono text-sm">{shown.path}</span>}
          description="From the start of the session to this point"
          size="wide"
        >
          {shown.patch === undefined ? (
            <p className="text-ink-soft">No lines to show.</p>
          ) : (
            <div className="overflow-hidden rounded-md border border-line">
              <PatchDiff patch={shown.patch} label={`Changes to ${shown.path}`} />
            </div>
          )}
        </Dialog>
      )}
    </section>
  );
}
