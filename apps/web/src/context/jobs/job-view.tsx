import type { RunEvent } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { formatDateTime, duration, money } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { cancelJob, isUnderWay, reportOf, subjectOf } from "./job-api.ts";
import { JobBadge } from "./job-badge.tsx";
import { EvalReportView } from "../evals/eval-report-view.tsx";
import { StageList } from "./stage-list.tsx";
import { reportRows } from "./report-rows.ts";
import { api } from "../../api/client.ts";
import { rest } from "../../api/while-seen.ts";
import { LiveValue, useLive } from "../../live/live-value.ts";
import { jobProgress, type JobProgress } from "./job-progress.ts";

/** The stages of a job while it runs, and its result. */
export function JobView({ id }: { id: string }) {
  const queries = useQueryClient();
  const refresh = () =>
    void queries.invalidateQueries({
      predicate: ({ queryKey: [path] }) => /^\/v1\/(jobs|proposals|context)/.test(String(path)),
    });
  const { data: job, error, refetch } = useServerQuery("jobs.retrieve", { params: { job_id: id } });
  const progress = useJobProgress(id, refresh);
  const cancelling = useMutation({ mutationFn: () => cancelJob(id), onSettled: refresh });
  const canCancel = job !== undefined && (isUnderWay(job) || job.state === "interrupted") && !job.cancel_requested;
  useShortcuts("Job", canCancel ? { x: ["Cancel the job", () => cancelling.mutate()] } : {});
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  if (!job) return null;
  const { spent, waiting } = progress;
  const report = reportOf(job);
  return (
    <article className="mx-auto max-w-3xl px-4 py-5 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 text-base font-semibold wrap-anywhere">
          {job.kind} <span className="font-normal text-ink-soft">{subjectOf(job)}</span>
        </h2>
        <JobBadge state={job.state} />
        {canCancel && (
          <Button size="small" className="ml-auto" disabled={cancelling.isPending} onClick={() => cancelling.mutate()}>
            Cancel
          </Button>
        )}
        {job.cancel_requested && job.ended_at === null && (
          <span className="ml-auto text-sm text-wait">Cancelling …</span>
        )}
      </div>
      <p className="mt-1 text-sm text-ink-faint">
        {job.started_at === null ? "Not started yet" : formatDateTime(job.started_at)}
        {job.started_at !== null &&
          job.ended_at !== null &&
          `, ${duration(Date.parse(job.ended_at) - Date.parse(job.started_at))}`}
        {progress.isResumed && ", resumed"}
        {spent && `, ${spent.requests} requests`}
        {spent && spent.usd !== null && `, ${money(spent.usd)} at list price`}
        {spent && spent.cached > 0 && `, ${spent.cached} from the cache`}
      </p>
      <Problem error={cancelling.error} className="mt-3" />
      {job.error && (
        <div role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {job.error.message}
          {job.error.fix !== undefined && <p className="mt-0.5 text-ink-soft">{job.error.fix}</p>}
        </div>
      )}
      {waiting && job.ended_at === null && (
        <p className="mt-3 rounded-md bg-wait-soft px-3 py-2 text-sm text-wait">
          Waiting: {waiting.reason}
          {waiting.until !== null && `, until ${formatDateTime(waiting.until)}`}
        </p>
      )}
      <StageList progress={progress} isOver={job.ended_at !== null} />
      {progress.proposals.length > 0 && (
        <ul className="mt-4 space-y-1">
          {progress.proposals.map(({ proposal, accepted, open }) => (
            <li key={proposal}>
              <ContextLink path={`proposals/${proposal}`} className={linkClass}>
                {open > 0 ? "Review the proposal" : "Proposal"}
              </ContextLink>
              : {accepted} accepted by rule, {open} to decide
            </li>
          ))}
        </ul>
      )}
      {progress.skipped.length > 0 && (
        <section aria-labelledby="skipped" className="mt-5">
          <h3 id="skipped" className="mb-1 text-sm font-medium text-wait">
            Skipped {progress.skipped.length}
          </h3>
          <ul className="space-y-1 text-sm">
            {progress.skipped.slice(0, 100).map(({ stage, item, message }, at) => (
              <li key={at} className="wrap-anywhere">
                <span className="font-mono text-xs">{item}</span> <span className="text-ink-faint">({stage})</span>{" "}
                {message}
              </li>
            ))}
          </ul>
        </section>
      )}
      {report && <EvalReportView report={report} />}
      {job.kind !== "evals" && job.result && <JobReport result={job.result} />}
    </article>
  );
}

/** The result of a job as a list of named numbers. */
function JobReport({ result }: { result: Record<string, unknown> }) {
  const rows = reportRows(result);
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="report" className="mt-5">
      <h3 id="report" className="mb-1.5 text-sm font-medium text-ink-soft">
        Report
      </h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 text-sm">
        {rows.map(([name, words]) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="wrap-anywhere">{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Follows the events of a job until it ends. */
function useJobProgress(id: string, onEnd: () => void): JobProgress {
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
