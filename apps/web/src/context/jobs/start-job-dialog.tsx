import type { JobPlan } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { money } from "../../text/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { startJob } from "./job-api.ts";
import { useChange } from "../../api/use-change.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";

export interface WantedJob {
  kind: "scan" | "ingest" | "evals";
  params: Record<string, unknown>;
  /** The database or the sources, by name. */
  subject: string;
}

/** Shows what a job would read and cost, and starts it. */
export function StartJobDialog({
  job,
  staysHere = false,
  onClose,
}: {
  job: WantedJob;
  /** The caller shows the progress. */
  staysHere?: boolean;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const plan = useQuery({
    queryKey: ["/v1/jobs/plan", job.kind, job.params],
    queryFn: ({ signal }) => api.call("jobs.plan", { body: { kind: job.kind, params: job.params }, signal }),
    // The source may change between two starts.
    gcTime: 0,
    retry: false,
  });
  const starting = useChange(
    ["/v1/jobs"],
    () => startJob(job.kind, job.params),
    ({ id }) => {
      onClose();
      return staysHere ? undefined : navigate({ to: "/context/$", params: { _splat: `jobs/${id}` } });
    },
  );
  const verb = VERBS[job.kind];
  return (
    <FormDialog
      onClose={onClose}
      title={`${verb} ${job.subject}`}
      size="narrow"
      verb={starting.isPending ? "Starting …" : "Start"}
      isReady={!plan.isFetching}
      action={starting}
    >
      <div aria-live="polite">
        {plan.isFetching && <p className="text-ink-soft">Estimating …</p>}
        {!plan.isFetching && plan.data && (
          <Plan plan={plan.data} without={job.kind === "evals" ? NO_ANSWERS : NO_DESCRIPTIONS} />
        )}
      </div>
      <Problem error={plan.isFetching ? null : plan.error} onRetry={() => void plan.refetch()} className="mt-2" />
    </FormDialog>
  );
}

const VERBS = { scan: "Scan", ingest: "Ingest", evals: "Run" };

/** The consequence of a missing model. */
const NO_DESCRIPTIONS = "so nothing is described";
const NO_ANSWERS = "so only search, values and joins are compared";

function Plan({
  plan: { reads, requests, usd, has_model: hasModel, skipped },
  without,
}: {
  plan: JobPlan;
  without: string;
}) {
  return (
    <>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 text-sm">
        {Object.entries(reads).map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint first-letter:uppercase">{name}</dt>
            <dd className="tabular-nums">{value.toLocaleString()}</dd>
          </div>
        ))}
        <dt className="text-ink-faint">Model requests</dt>
        <dd className="tabular-nums">{requests === 0 ? "none" : `about ${requests.toLocaleString()}`}</dd>
        <dt className="text-ink-faint">Cost</dt>
        <dd className="font-medium">
          {usd === null
            ? "unknown: a model has no list price"
            : usd === 0
              ? "none"
              : `about ${money(usd)} at list price`}
        </dd>
      </dl>
      {!hasModel && (
        <p className="mt-3 rounded-md bg-raised px-2.5 py-1.5 text-sm text-ink-soft">
          No model is set up, {without}. Run <code className="font-mono text-xs">tandem setup</code> on the server to
          choose one.
        </p>
      )}
      {skipped.length > 0 && (
        <section aria-label="Skipped" className="mt-3 text-sm">
          <p className="text-wait">Will be skipped:</p>
          <ul className="max-h-40 overflow-y-auto text-xs text-ink-soft">
            {skipped.map(({ item, message }) => (
              <li key={item} className="wrap-anywhere">
                <span className="font-mono">{item}</span>: {message}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
