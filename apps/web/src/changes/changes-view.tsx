import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState, useSyncExternalStore } from "react";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { useCheckpoints, useDiff } from "./changes-api.ts";
import { ChangesBar } from "./changes-bar.tsx";
import { CommentBar } from "./comment-bar.tsx";
import { FileList } from "./file-list.tsx";
import { FileSection } from "./file-section.tsx";
import { filesIn, fileTree } from "./file-tree.ts";
import { ForkDialog } from "./actions/fork-dialog.tsx";
import { RewindDialog } from "./actions/rewind-dialog.tsx";
import { TurnList } from "./turn-list.tsx";
import { UndoRewind } from "./actions/undo-rewind.tsx";
import { useComments } from "../diff/use-comments.ts";
import type { DiffLayout } from "../diff/diff-view.tsx";
import { WorktreePanel } from "./actions/worktree-panel.tsx";

/** The file changes of a session, per turn and in total, with rewind and fork. */
export default function ChangesView({ session }: { session: string }) {
  const [turn, setTurn] = useState<number>();
  const [dialog, setDialog] = useState<"rewind" | "fork">();
  const [current, setCurrent] = useState<string>();
  const navigate = useNavigate();
  const { layout, canSplit, setLayout } = useDiffLayout();
  const { comments, put, drop, clear } = useComments(session);
  const checkpoints = useCheckpoints(session);
  const diff = useDiff(session, turn === undefined ? {} : { turn });
  const turns = checkpoints.data?.turns ?? [];
  const tree = useMemo(() => fileTree(diff.data?.files ?? []), [diff.data]);
  const files = useMemo(() => filesIn(tree), [tree]);
  const notes = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { path } of comments) counts.set(path, (counts.get(path) ?? 0) + 1);
    return counts;
  }, [comments]);
  const choose = (next: number | undefined): void => {
    setTurn(next);
    setCurrent(undefined);
  };

  const open = (path: string): void => {
    setCurrent(path);
    const section = document.getElementById(`file-${path}`);
    section?.scrollIntoView({ block: "start" });
    section?.querySelector("button")?.focus({ preventScroll: true });
  };
  const step = (by: number): void => {
    const at = files.findIndex(({ path }) => path === current);
    const next = files[Math.min(Math.max(at + by, 0), files.length - 1)];
    if (next) open(next.path);
  };
  const stepTurn = (by: number): void => {
    const steps = [undefined, ...turns.map((one) => one.turn)];
    choose(steps[Math.min(Math.max(steps.indexOf(turn) + by, 0), steps.length - 1)]);
  };
  const compare = (): void => void navigate({ to: "/compare", search: { a: session } });
  useShortcuts("Changes", {
    j: ["Next file", () => step(1)],
    k: ["Previous file", () => step(-1)],
    "]": ["Next turn", () => stepTurn(1)],
    "[": ["Previous turn", () => stepTurn(-1)],
    u: ["Switch between side by side and unified", () => setLayout(layout === "split" ? "unified" : "split")],
    r: ["Rewind", () => setDialog("rewind")],
    f: ["Fork", () => setDialog("fork")],
    c: ["Compare with another session", compare],
  });
  const problem = diff.data ? null : diff.error;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <ChangesBar
        turns={turns}
        turn={turn}
        layout={layout}
        canSplit={canSplit}
        diff={diff.data}
        onTurn={choose}
        onLayout={setLayout}
        onRewind={() => setDialog("rewind")}
        onFork={() => setDialog("fork")}
        onCompare={compare}
      />
      <WorktreePanel session={session} />
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] lg:grid-cols-[17rem_minmax(0,1fr)]">
        <aside
          aria-label="Turns and files"
          className="hidden min-h-0 space-y-4 overflow-y-auto border-r border-line p-2 lg:block"
        >
          <nav aria-label="Turns">
            <h2 className="px-1.5 pb-1 text-xs font-medium text-ink-faint">Turns</h2>
            <TurnList turns={turns} selected={turn} onSelect={choose} />
          </nav>
          {files.length > 0 && (
            <nav aria-label="Files">
              <h2 className="px-1.5 pb-1 text-xs font-medium text-ink-faint">Files</h2>
              <FileList tree={tree} current={current} notes={notes} onOpen={open} />
            </nav>
          )}
        </aside>
        <div className="min-h-0 space-y-3 overflow-y-auto p-3">
          <UndoRewind session={session} turns={turns} />
          <Problem error={problem} onRetry={() => void diff.refetch()} />
          {diff.data && files.length === 0 && (
            <Empty title="No files changed">
              {turn === undefined ? "File changes are listed here, by turn." : "This turn changed no files."}
            </Empty>
          )}
          {files.map((file) => (
            <FileSection
              key={`${turn ?? "all"} ${file.path}`}
              file={file}
              layout={layout}
              commenting={{ comments, put, drop }}
            />
          ))}
          {diff.data?.truncated === true && (
            <p className="text-sm text-ink-soft">The diff is truncated. Choose a single turn to see the rest.</p>
          )}
          {diff.data && diff.data.skipped.length > 0 && (
            <p className="text-sm text-ink-faint">Not compared because of their size: {diff.data.skipped.join(", ")}</p>
          )}
        </div>
      </div>
      <CommentBar session={session} comments={comments} onSent={clear} />
      {dialog === "rewind" && (
        <RewindDialog
          session={session}
          turns={turns}
          turn={turn}
          onClose={() => setDialog(undefined)}
          onDone={() => {
            choose(undefined);
            void checkpoints.refetch();
            void diff.refetch();
          }}
        />
      )}
      {dialog === "fork" && (
        <ForkDialog session={session} turns={turns} turn={turn} onClose={() => setDialog(undefined)} />
      )}
    </div>
  );
}

const KEY = "tandem.diff";
const wide = matchMedia("(min-width: 72rem)");
const subscribe = (listener: () => void): (() => void) => {
  wide.addEventListener("change", listener);
  return () => wide.removeEventListener("change", listener);
};

/** The split layout needs a wide screen and the user's choice. */
function useDiffLayout(): { layout: DiffLayout; canSplit: boolean; setLayout: (layout: DiffLayout) => void } {
  const canSplit = useSyncExternalStore(subscribe, () => wide.matches);
  const [chosen, setChosen] = useState<DiffLayout>(() => (localStorage.getItem(KEY) === "split" ? "split" : "unified"));
  const setLayout = (layout: DiffLayout): void => {
    localStorage.setItem(KEY, layout);
    setChosen(layout);
  };
  return { layout: canSplit ? chosen : "unified", canSplit, setLayout };
}
