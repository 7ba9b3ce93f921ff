import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Problem } from "../../ui/problem.tsx";
import { type FileChange, useDiff } from "../changes-api.ts";
import { pairFiles } from "./pair-files.ts";
import { LineCount } from "../../diff/line-count.tsx";
import { PatchDiff } from "../../diff/patch-diff.tsx";

/** Every file that either session changed, with both diffs. */
export function CompareFiles({ a, b }: { a: string; b: string }) {
  const left = useDiff(a, {});
  const right = useDiff(b, {});
  const pairs = pairFiles(left.data?.files ?? [], right.data?.files ?? []);
  return (
    <section aria-label="Files">
      <h2 className="mb-2 text-sm font-medium text-ink-soft">Files</h2>
      <Problem error={left.error ?? right.error} />
      {(left.isPending || right.isPending) && <p className="text-sm text-ink-faint">Loading …</p>}
      {left.data && right.data && pairs.length === 0 && (
        <p className="text-sm text-ink-soft">Neither session changed a file.</p>
      )}
      <ul className="space-y-2">
        {pairs.map((pair) => (
          <Pair key={pair.path} {...pair} />
        ))}
      </ul>
    </section>
  );
}

function Pair({ path, a, b, isSame }: ReturnType<typeof pairFiles>[number]) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="rounded-lg border border-line bg-surface">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="grid w-full grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-2 px-2.5 py-1.5 text-left hover:bg-raised pointer-coarse:min-h-10"
      >
        <ChevronRight aria-hidden className={`size-4 text-ink-faint ${isOpen ? "rotate-90" : ""}`} />
        <span className="truncate font-mono text-xs">{path}</span>
        <span className="grid grid-cols-[5rem_5rem] text-right text-xs text-ink-faint">
          {isSame ? (
            <span className="col-span-2">same in both</span>
          ) : (
            <>
              <span>{a ? <LineCount added={a.added} removed={a.removed} /> : "–"}</span>
              <span>{b ? <LineCount added={b.added} removed={b.removed} /> : "–"}</span>
            </>
          )}
        </span>
      </button>
      {isOpen && (
        <div className="grid border-t border-line md:grid-cols-2 md:divide-x md:divide-line">
          <Side file={a} label={`Left: changes to ${path}`} />
          <Side file={b} label={`Right: changes to ${path}`} />
        </div>
      )}
    </li>
  );
}

function Side({ file, label }: { file: FileChange | undefined; label: string }) {
  if (!file) return <p className="px-3 py-2 text-sm text-ink-faint">Not changed.</p>;
  if (file.patch === undefined) return <p className="px-3 py-2 text-sm text-ink-faint">No lines to show.</p>;
  return (
    <div className="min-w-0">
      <PatchDiff patch={file.patch} label={label} />
    </div>
  );
}
