import type { BodyInput, RewindOutcome } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { api } from "../../api/client.ts";
import { Problem } from "../../ui/problem.tsx";
import { FileSection } from "../file-section.tsx";
import { LineCount } from "../../diff/line-count.tsx";

const SHOWN = 40;

/** Asks what a rewind would change. The answer is not cached: files may change at any time. */
export const useRewindDryRun = (
  session: string,
  turn: number | undefined,
  scope: BodyInput<"sessions.rewind">["scope"],
) =>
  useQuery({
    queryKey: [`/v1/sessions/${session}/rewind`, { turn, scope }],
    queryFn: () =>
      api.call("sessions.rewind", { params: { session_id: session }, body: { turn, scope, dry_run: true } }),
    enabled: turn !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });

/** The effect of a rewind on the conversation, on the files, and on changes made outside the session. */
export function RewindPreview({ dryRun }: { dryRun: ReturnType<typeof useRewindDryRun> }) {
  return (
    <>
      <Problem error={dryRun.error} onRetry={() => void dryRun.refetch()} />
      {dryRun.data && <Effect outcome={dryRun.data} />}
      {dryRun.isLoading && <p className="text-sm text-ink-faint">Checking what would change …</p>}
    </>
  );
}

function Effect({ outcome: { diff, foreign, turns } }: { outcome: RewindOutcome }) {
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
