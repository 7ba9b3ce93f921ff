import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { FileChange } from "./changes-api.ts";
import { CommentBox } from "../diff/comment-box.tsx";
import type { DiffLine } from "../diff/diff-file.ts";
import { StatusLetter } from "./file-list.tsx";
import { LineCount } from "../diff/line-count.tsx";
import type { LineComment } from "../diff/line-comments.ts";
import type { DiffLayout } from "../diff/diff-view.tsx";
import { PatchDiff } from "../diff/patch-diff.tsx";

/** Longer diffs start collapsed. */
const LONG = 500;

interface CommentHandlers {
  comments: readonly LineComment[];
  put: (comment: LineComment) => void;
  drop: (comment: Pick<LineComment, "path" | "key">) => void;
}

export function FileSection({
  file,
  layout,
  commenting,
}: {
  file: FileChange;
  layout: DiffLayout;
  commenting?: CommentHandlers | undefined;
}) {
  const lines = (file.added ?? 0) + (file.removed ?? 0);
  const [isOpen, setOpen] = useState(lines <= LONG);
  return (
    <section
      id={`file-${file.path}`}
      aria-label={file.path}
      className="scroll-mt-2 overflow-clip rounded-lg border border-line bg-surface"
    >
      <h3 className="sticky -top-3 z-10 rounded-t-lg bg-surface">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className={`flex w-full items-center gap-2 px-2.5 py-1.5 text-left hover:bg-raised pointer-coarse:min-h-10 ${isOpen ? "rounded-t-lg border-b border-line" : "rounded-lg"}`}
        >
          <ChevronRight aria-hidden className={`size-4 shrink-0 text-ink-faint ${isOpen ? "rotate-90" : ""}`} />
          <span className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
            {file.old_path !== undefined && <span className="text-ink-faint">{file.old_path} → </span>}
            {file.path}
          </span>
          <LineCount added={file.added} removed={file.removed} />
          <StatusLetter status={file.status} />
        </button>
      </h3>
      {isOpen && <FileBody file={file} layout={layout} commenting={commenting} />}
    </section>
  );
}

function FileBody({ file, layout, commenting }: Parameters<typeof FileSection>[0]) {
  const [drafts, setDrafts] = useState<readonly DiffLine[]>([]);
  if (file.binary) return <p className="px-3 py-2 text-sm text-ink-soft">Binary file: no lines to show.</p>;
  if (file.patch === undefined)
    return <p className="px-3 py-2 text-sm text-ink-soft">This change is too large to show.</p>;
  const label = `Changes to ${file.path}`;
  if (!commenting) return <PatchDiff patch={file.patch} layout={layout} label={label} />;

  const own = commenting.comments.filter(({ path }) => path === file.path);
  const leave = (key: string): void => setDrafts(drafts.filter((draft) => draft.key !== key));
  const fresh = drafts.filter(({ key }) => own.every((comment) => comment.key !== key));
  const boxes = [
    ...own.map((comment) => ({ comment, isNew: false })),
    ...fresh.map((draft) => ({ comment: { ...draft, path: file.path, words: "" }, isNew: true })),
  ];
  const notes: Record<string, ReactNode> = Object.fromEntries(
    boxes.map(({ comment, isNew }) => [
      comment.key,
      <CommentBox
        key={isNew ? "new" : "said"}
        comment={comment}
        isNew={isNew}
        onSave={(words) => {
          leave(comment.key);
          commenting.put({ ...comment, words });
        }}
        onDrop={() => {
          leave(comment.key);
          if (!isNew) commenting.drop(comment);
        }}
      />,
    ]),
  );
  return (
    <PatchDiff
      patch={file.patch}
      layout={layout}
      label={`${label}. Arrow keys move between lines. Enter adds a comment.`}
      notes={notes}
      onPick={(line) => setDrafts([...drafts.filter(({ key }) => key !== line.key), line])}
    />
  );
}
