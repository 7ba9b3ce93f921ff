import { feed } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";
import type { SessionLog } from "../live/session-log.ts";
import { listCost } from "../text/format.ts";
import { STATE_WORDS, StateDot, stateOf } from "../ui/state-dot.tsx";

export function SessionHeader({ session: id, log }: { session: string; log: SessionLog }) {
  const session = useLive(feed.sessions).get(id);
  const connection = useLive(log.connection);
  return (
    <header className="flex items-center gap-3 border-b border-line bg-surface px-4 py-2">
      {session && <StateDot state={stateOf(session)} />}
      <h1 className="truncate text-base font-semibold">{session?.title ?? "Untitled"}</h1>
      {session && <span className="shrink-0 text-xs text-ink-faint">{STATE_WORDS[stateOf(session)]}</span>}
      <span className="ml-auto flex shrink-0 items-center gap-3 text-xs text-ink-faint">
        {connection === "lost" && <span className="text-bad">Connection lost, trying again …</span>}
        {session && <span>{listCost(session.list_cost)}</span>}
      </span>
    </header>
  );
}
