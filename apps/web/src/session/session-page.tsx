import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { SessionLog } from "../live/session-log.ts";
import { Composer } from "./composer.tsx";
import { SessionHeader } from "./session-header.tsx";
import { Timeline } from "./timeline.tsx";

export function SessionPage() {
  const { session } = useParams({ from: "/sessions/$session" });
  // Another session is another page: nothing of the one before it stays.
  return <OpenSession key={session} session={session} />;
}

function OpenSession({ session }: { session: string }) {
  const [log] = useState(() => new SessionLog(session));
  useEffect(() => {
    const end = new AbortController();
    void log.follow(end.signal);
    return () => end.abort();
  }, [log]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <SessionHeader session={session} log={log} />
      <Timeline log={log} />
      <Composer session={session} log={log} />
    </div>
  );
}
