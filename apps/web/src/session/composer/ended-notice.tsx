import { GitFork } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";

const ForkFromEndDialog = lazy(() => import("../../changes/actions/fork-dialog.tsx"));

/** Replaces the composer of a session that has ended. */
export function EndedNotice({ session }: { session: string }) {
  const [isForking, setForking] = useState(false);
  useShortcuts("Session", { f: ["Fork", () => setForking(true)] });
  return (
    <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-2 px-5 py-4 text-sm text-ink-faint">
      <p>This session has ended. It can be read, and forked.</p>
      <Button size="small" onClick={() => setForking(true)}>
        <GitFork aria-hidden className="size-4" /> Fork …
      </Button>
      {isForking && (
        <Suspense>
          <ForkFromEndDialog session={session} onClose={() => setForking(false)} />
        </Suspense>
      )}
    </div>
  );
}
