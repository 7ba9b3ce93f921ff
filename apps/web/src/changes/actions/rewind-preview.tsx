import type { RewindOutcome } from "@tandem/protocol";
import { TriangleAlert } from "lucide-react";
import { FileSection } from "../file-section.tsx";
import { LineCount } from "../../diff/line-count.tsx";

const SHOWN = 40;

/**
 * The effect of a rewind, planned or done: on the conversation, on the files, and on changes made outside the session.
 */
export function RewindPreview({ outcome: { diff, foreign, turns } }: { outcome: RewindOutcome }) {
  return (
    <div className="space-y-3">
      {foreign.length > 0 && (
        <div className="rounded-md border border-wait/40 bg-wait-soft px-3 py-2 text-sm">
          <p className="flex items-center gap-2 font-medium text-wait">
            <TriangleAlert aria-hidden className="size-4" /> These files were also changed outside this session
          </p>
          <ul className="mt-1 space-y-0.5">
            {foreign.map(({ path, reason }) => (
              <li key={path} className="wrap-anywhere">
                <span className="font-mono text-xs">{path}</span> <span className="text-ink-soft">{reason}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <p className="text-sm text-ink-soft">
        {turns === 0
          ? "The conversation is kept."
          : `The agent forgets ${turns === 1 ? "one turn" : `${turns} turns`}.`}{" "}
        {diff === null ? (
          "The files are kept."
        ) : diff.files.length === 0 ? (
          "No files change."
        ) : (
          <>
            {diff.files.length === 1 ? "1 file changes" : `${diff.files.length} files change`}:{" "}
            <LineCount added={diff.added} removed={diff.removed} />
          </>
        )}
      </p>
      {diff?.files.slice(0, SHOWN).map((file) => (
        <FileSection key={file.path} file={file} layout="unified" />
      ))}
      {diff && (diff.truncated || diff.files.length > SHOWN) && (
        <p className="text-sm text-ink-faint">The preview is truncated.</p>
      )}
    </div>
  );
}
