import { GitFork } from "lucide-react";
import { sessionAction } from "../../state/open-dialogs.ts";
import { Button } from "../../ui/button.tsx";

/** Replaces the composer of a session that has ended. */
export function EndedNotice({ session }: { session: string }) {
  return (
    <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-2 px-5 py-4 text-sm text-ink-faint">
      <p>This session has ended. You can read it or fork it.</p>
      <Button size="small" onClick={() => sessionAction.set({ kind: "fork", session: { id: session, title: null } })}>
        <GitFork aria-hidden className="size-4" /> Fork …
      </Button>
    </div>
  );
}
