import type { Job } from "@tandem/protocol";
import { ago } from "../../text/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { useOverview } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { isUnderWay, subjectOf } from "./job-api.ts";
import { JobBadge } from "./job-badge.tsx";
import { JobView } from "./job-view.tsx";
import { StartJob } from "./start-job.tsx";

const MOST = 50;
const BUSY_MS = 2_000;
const IDLE_MS = 15_000;

/** Background jobs, started here, by a command or automatically. */
export default function JobsView({ job }: { job: string }) {
  const overview = useOverview();
  const { data, error, refetch } = useServerQuery(
    "jobs.list",
    { query: { limit: MOST } },
    { refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) ? BUSY_MS : IDLE_MS) },
  );
  const list = (
    <>
      {overview.data && <StartJob overview={overview.data} />}
      <Problem error={error} onRetry={() => void refetch()} className="m-3" />
      {data?.data.length === 0 && (
        <div className="px-4 py-6 text-sm text-ink-soft">
          <p className="mb-3">No job has run yet. A scan reads a database, an ingest reads documents.</p>
          <ContextLink path="sources/new" className={linkClass}>
            Add a database or folder
          </ContextLink>
        </div>
      )}
      <div className="py-1">
        {data?.data.map((each) => (
          <PaneRow key={each.id} path={`jobs/${each.id}`} isCurrent={each.id === job}>
            <span className="flex items-center gap-2">
              <span className="truncate">
                <span className="font-medium">{each.kind}</span>{" "}
                <span className="text-ink-soft">{subjectOf(each)}</span>
              </span>
              <span className="ml-auto">
                <JobBadge state={each.state} />
              </span>
            </span>
            <span className="mt-0.5 block truncate text-xs text-ink-faint">
              {isUnderWay(each) && each.progress?.stage
                ? `${each.progress.stage} ${progressOf(each)}`
                : ago(each.created_at)}
            </span>
          </PaneRow>
        ))}
      </div>
    </>
  );
  return (
    <Panes label="Jobs" back="jobs" list={list} detail={job === "" ? undefined : <JobView key={job} id={job} />} />
  );
}

const progressOf = ({ progress }: Job): string =>
  progress && progress.total !== null && progress.total > 0 ? `${progress.done} of ${progress.total}` : "";
