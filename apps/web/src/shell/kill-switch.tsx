import { useMutation, useQueryClient } from "@tanstack/react-query";
import { OctagonX } from "lucide-react";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { TimeAgo } from "../ui/time-ago.tsx";

export const STOP_KEY = ["/v1/stop"] as const;
const LOOK_MS = 15_000;

/** A banner on every page while everything is stopped, with a button to resume. */
export function KillSwitch() {
  const queries = useQueryClient();
  const { data } = useServerQuery("emergency.state", {}, { refetchInterval: LOOK_MS });
  const resume = useMutation({
    mutationFn: () => api.call("emergency.resume"),
    onSuccess: (next) => queries.setQueryData(STOP_KEY, next),
  });
  const stopped = data?.stopped;
  if (!stopped) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-bad-soft px-4 py-2 text-bad">
      <OctagonX aria-hidden className="size-4 shrink-0" />
      <output className="min-w-52 flex-1">
        <strong>Everything is stopped.</strong> By {stopped.by}, <TimeAgo at={stopped.at} />
        {stopped.reason !== null && `: ${stopped.reason}`}. No turn starts until you resume.
        {resume.error && ` ${resume.error.message}`}
      </output>
      <Button disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume
      </Button>
    </div>
  );
}
