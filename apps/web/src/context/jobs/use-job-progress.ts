import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { api } from "../../api/client.ts";
import { rest } from "../../api/while-seen.ts";
import { LiveValue, useLive } from "../../live/live-value.ts";
import { jobProgress, type JobProgress } from "./job-progress.ts";
import type { RunEvent } from "@tandem/protocol";

/** Follows the events of a job until it ends. */
export function useJobProgress(id: string, onEnd: () => void): JobProgress {
  const ended = useEffectEvent(onEnd);
  const [events] = useState(() => new LiveValue<readonly RunEvent[]>([]));
  useEffect(() => {
    const end = new AbortController();
    events.set([]);
    void api.follow("jobs.events.stream", {
      params: { job_id: id },
      signal: end.signal,
      rest,
      onFrame: ({ data }) => {
        const { event } = data;
        events.change((all) => [...all, event]);
        if (event.type !== "ended") return;
        end.abort();
        ended();
      },
    });
    return () => end.abort();
  }, [id, events]);
  const said = useLive(events);
  return useMemo(() => jobProgress(said), [said]);
}
