import type { Deployment } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { CalendarClock, Play } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddButton } from "../add-button.tsx";
import { Badge, ListPanel, PageHead } from "../panel.tsx";
import { ScheduleDialog } from "./schedule-dialog.tsx";
import { ownZone, scheduleWords, timeIn } from "./schedule-text.ts";
import { useDeploymentChange, useDeployments, useLastRuns } from "./use-deployments.ts";

/** Deployments: agents that run by themselves. */
export default function SchedulesPage() {
  const list = useDeployments();
  const [edited, setEdited] = useState<Deployment | "new">();
  const [ended, setEnded] = useState<Deployment>();
  const archive = useDeploymentChange((id: string) =>
    api.call("deployments.archive", { params: { deployment_id: id } }),
  );
  return (
    <>
      <PageHead title="Schedules" action={<AddButton onClick={() => setEdited("new")}>New schedule</AddButton>}>
        Agents that start a session at certain times or on request. Times pass without a run while no server is running.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel
        items={list.data}
        empty={<Empty title="No schedules yet">Create one, or use the deployments of Anthropic’s SDK.</Empty>}
      >
        {(deployment) => (
          <ScheduleRow
            key={deployment.id}
            deployment={deployment}
            onEdit={() => setEdited(deployment)}
            onArchive={() => setEnded(deployment)}
          />
        )}
      </ListPanel>
      {edited && (
        <ScheduleDialog
          {...(edited !== "new" && { deployment: edited })}
          key={edited === "new" ? "new" : edited.id}
          onClose={() => setEdited(undefined)}
        />
      )}
      {ended && (
        <Confirm
          onClose={() => setEnded(undefined)}
          title={`Archive ${ended.name}?`}
          verb="Archive"
          act={() => archive.mutateAsync(ended.id)}
        >
          It never runs again. Its sessions stay.
        </Confirm>
      )}
    </>
  );
}

function ScheduleRow({
  deployment,
  onEdit,
  onArchive,
}: {
  deployment: Deployment;
  onEdit: () => void;
  onArchive: () => void;
}) {
  const { id, name, schedule, status, paused_reason: reason } = deployment;
  const params = { deployment_id: id };
  const isPaused = status === "paused";
  const toggle = useDeploymentChange(() =>
    api.call(isPaused ? "deployments.unpause" : "deployments.pause", { params }),
  );
  const run = useDeploymentChange(() => api.call("deployments.run", { params }));
  const next = isPaused ? undefined : schedule?.upcoming_runs_at[0];
  return (
    <li className="p-3" aria-label={name}>
      <div className="flex flex-wrap items-center gap-2">
        <CalendarClock aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <h2 className="min-w-40 flex-1 font-medium break-words">{name}</h2>
        {isPaused ? (
          <Badge tone={reason?.type === "error" ? "bad" : "plain"}>
            {reason?.type === "error" ? `paused: ${errorWords(reason.error.type)}` : "paused"}
          </Badge>
        ) : (
          <Badge tone="good">active</Badge>
        )}
      </div>
      <p className="mt-1 text-ink-soft">{scheduleWords(schedule)}</p>
      {next && schedule && (
        <p className="text-sm text-ink-soft">
          Next run:{" "}
          <time dateTime={next} title={`${formatDateTime(next)} in your time zone`}>
            {timeIn(next, schedule.timezone)}
          </time>
        </p>
      )}
      {deployment.tandem.warnings.map((warning) => (
        <p key={warning} className="text-sm text-ink-soft">
          {warning}
        </p>
      ))}
      <LastRuns deployment={deployment} />
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          size="small"
          icon={<Play aria-hidden className="size-4" />}
          disabled={run.isPending}
          onClick={() => run.mutate()}
        >
          {run.isPending ? "Starting …" : "Run now"}
        </Button>
        {schedule && (
          <Button size="small" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
            {isPaused ? "Unpause" : "Pause"}
          </Button>
        )}
        <Button look="quiet" size="small" onClick={onEdit}>
          Edit …
        </Button>
        <Button look="quiet" size="small" onClick={onArchive}>
          Archive …
        </Button>
      </div>
      <Problem error={run.error ?? toggle.error} className="mt-2" />
    </li>
  );
}

function LastRuns({ deployment: { id, name, schedule } }: { deployment: Deployment }) {
  const runs = useLastRuns(id);
  if (!runs.data || runs.data.length === 0) return null;
  const zone = schedule?.timezone ?? ownZone();
  return (
    <ul aria-label={`Last runs of ${name}`} className="mt-1 text-sm">
      {runs.data.map((run) => {
        const { trigger_context: trigger } = run;
        const time = trigger.type === "schedule" ? trigger.scheduled_at : run.created_at;
        return (
          <li key={run.id} className="flex flex-wrap items-center gap-x-2 py-0.5">
            <time dateTime={time} className="text-ink-soft">
              {timeIn(time, zone)}
            </time>
            <span className="text-ink-soft">{trigger.type === "schedule" ? "scheduled" : "on request"}</span>
            {run.session_id === null ? (
              <span className="min-w-0 break-words text-bad">{run.error?.message}</span>
            ) : (
              <Link to="/sessions/$session" params={{ session: run.session_id }} className="text-accent underline">
                Open session
              </Link>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** `environment_archived_error` as "environment archived". */
const errorWords = (type: string): string => type.replace(/_error$/, "").replaceAll("_", " ");
