import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { OctagonX } from "lucide-react";
import { useId, useState } from "react";
import { api } from "../api/client.ts";
import { LiveValue, useLive } from "../live/live-value.ts";
import { ago, exactly } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { inputClass } from "../ui/field.tsx";

interface Stopped {
  stopped: { at: string; by: string; reason: string | null } | null;
}

const KEY = ["/v1/stop"];
const LOOK_MS = 15_000;

/** Whether somebody is asked if everything is to stop. */
export const isStopAsked = new LiveValue(false);

/** Says so while everything is stopped, on every page, and lets it go on; asks before it stops. */
export function KillSwitch() {
  const queries = useQueryClient();
  const isAsked = useLive(isStopAsked);
  const state = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.get<Stopped>("/v1/stop", {}, signal),
    refetchInterval: LOOK_MS,
  });
  const resume = useMutation({
    mutationFn: () => api.post<Stopped>("/v1/resume"),
    onSuccess: (next) => queries.setQueryData(KEY, next),
  });
  const stopped = state.data?.stopped;
  if (stopped) {
    return (
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-bad-soft px-4 py-2 text-bad">
        <OctagonX aria-hidden className="size-4 shrink-0" />
        <p className="min-w-0 flex-1">
          <strong>Everything is stopped.</strong> By {stopped.by},{" "}
          <time dateTime={stopped.at} title={exactly(stopped.at)}>
            {ago(stopped.at)}
          </time>
          {stopped.reason !== null && `: ${stopped.reason}`}. Nothing begins until you let it go on.
          {resume.error && ` ${resume.error.message}`}
        </p>
        <Button disabled={resume.isPending} onClick={() => resume.mutate()}>
          Let it go on
        </Button>
      </div>
    );
  }
  return isAsked ? <AskToStop onStopped={(next) => queries.setQueryData(KEY, next)} /> : null;
}

function AskToStop({ onStopped }: { onStopped: (state: Stopped) => void }) {
  const [reason, setReason] = useState("");
  const id = useId();
  const stop = useMutation({
    mutationFn: () => api.post<Stopped>("/v1/stop", reason.trim() === "" ? {} : { reason: reason.trim() }),
    onSuccess: (next) => {
      onStopped(next);
      isStopAsked.set(false);
    },
  });
  return (
    <form
      role="alertdialog"
      aria-labelledby={id}
      className="flex flex-wrap items-center gap-2 border-b border-bad bg-bad-soft px-4 py-2 text-bad"
      onKeyDown={(event) => {
        if (event.key === "Escape") isStopAsked.set(false);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        stop.mutate();
      }}
    >
      <OctagonX aria-hidden className="size-4 shrink-0" />
      <p id={id} className="min-w-52 flex-1">
        <strong>Stop everything?</strong> Every turn of every session is interrupted, and nothing begins until you let
        it.
        {stop.error && ` ${stop.error.message}`}
      </p>
      <input
        autoFocus
        aria-label="Why, for the others"
        placeholder="Why (for the others)"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        className={`${inputClass} max-w-60`}
      />
      <Button type="submit" look="danger" disabled={stop.isPending}>
        Stop everything
      </Button>
      <Button onClick={() => isStopAsked.set(false)}>Cancel</Button>
    </form>
  );
}
