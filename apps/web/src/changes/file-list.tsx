import { FileText, Folder } from "lucide-react";
import type { FileChange } from "./changes-api.ts";
import type { TreeFolder } from "./file-tree.ts";
import { LineCount } from "../diff/line-count.tsx";

const LETTERS = {
  added: ["A", "text-good", "added"],
  modified: ["M", "text-ink-faint", "changed"],
  deleted: ["D", "text-bad", "deleted"],
  renamed: ["R", "text-accent", "renamed"],
  type_changed: ["T", "text-ink-faint", "type changed"],
} as const;

export function StatusLetter({ status }: { status: FileChange["status"] }) {
  const [letter, look, words] = LETTERS[status];
  return (
    <span className={`shrink-0 font-mono text-xs font-semibold ${look}`} title={words}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{words}</span>
    </span>
  );
}

/** The changed files as a tree. */
export function FileList({
  tree,
  current,
  notes,
  onOpen,
}: {
  tree: TreeFolder;
  current: string | undefined;
  /** Comments per path. */
  notes: ReadonlyMap<string, number>;
  onOpen: (path: string) => void;
}) {
  return (
    <ul className="text-sm">
      {tree.folders.map((folder) => (
        <li key={folder.path}>
          <p className="flex items-center gap-1.5 px-1 py-0.5 text-ink-soft">
            <Folder aria-hidden className="size-3.5 shrink-0" />
            <span className="truncate">{folder.name}</span>
          </p>
          <div className="ml-2.5 border-l border-line pl-1">
            <FileList tree={folder} current={current} notes={notes} onOpen={onOpen} />
          </div>
        </li>
      ))}
      {tree.files.map(({ name, file }) => (
        <li key={file.path}>
          <button
            type="button"
            onClick={() => onOpen(file.path)}
            aria-current={file.path === current}
            className="flex w-full items-center gap-1.5 min-h-6 rounded px-1 py-0.5 text-left hover:bg-raised aria-current:bg-accent-soft pointer-coarse:min-h-10"
          >
            <FileText aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
            <span className={`truncate ${file.status === "deleted" ? "line-through" : ""}`}>{name}</span>
            {(notes.get(file.path) ?? 0) > 0 && (
              <span className="rounded-full bg-accent-soft px-1.5 text-xs text-accent">{notes.get(file.path)}</span>
            )}
            <span className="ml-auto flex items-center gap-1.5">
              <LineCount added={file.added} removed={file.removed} />
              <StatusLetter status={file.status} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
