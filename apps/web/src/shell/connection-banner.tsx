import { WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";

/** Short interruptions show no banner. */
const PATIENCE_MS = 2_000;

/** Warns that the data may be stale. Drafts are kept, and the stream resumes without a gap. */
export function ConnectionBanner() {
  const connection = useLive(feed.connection);
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (connection !== "lost") {
      setLong(false);
      return;
    }
    const timer = setTimeout(() => setLong(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [connection]);
  if (connection !== "lost" || !isLong) return null;
  return (
    <div className="flex items-center gap-2 bg-wait-soft px-4 py-1.5 text-sm text-wait">
      <WifiOff aria-hidden className="size-4 shrink-0" />
      <p>
        Cannot reach the server. Reconnecting; this page may be out of date. If the server is stopped, run{" "}
        <code className="font-mono">tandem up</code> to start it.
      </p>
    </div>
  );
}
