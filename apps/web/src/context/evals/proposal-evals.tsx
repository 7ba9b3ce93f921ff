import type { Job } from "@tandem/protocol";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ContextLink, linkClass } from "../context-link.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { isUnderWay, reportOf } from "../jobs/job-api.ts";
import { StartJobDialog, type WantedJob } from "../jobs/start-job-dialog.tsx";
import { ComparedQuestions, comparisonText } from "./eval-comparison.tsx";

/** Runs that are looked through for the newest one of a proposal. */
const RUNS = 50;
const POLL_MS = 2_000;

/** Compares the context with and without a proposal by the eval questions. Started by a person only. */
export function ProposalEvals({ proposal }: { proposal: string }) {
  const files = useServerQuery("context.evals.list", {});
  const jobs = useServerQuery(
    "jobs.list",
    { query: { kind: "evals", limit: RUNS } },
    { refetchInterval: ({ state }) => (state.data?.data.some((job) => isUnderWay(job)) ? POLL_MS : false) },
  );
  const [wanted, setWanted] = useState<WantedJob>();
  const questions = files.data?.data.reduce((sum, file) => sum + file.questions, 0) ?? 0;
  if (questions === 0) return null;
  const job = jobs.data?.data.find(({ kind, params }) => kind === "evals" && params.proposal === proposal);
  return (
    <section aria-label="Evals" className="mt-3 rounded-md border border-line px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Outcome job={job} questions={questions} />
        {!(job && isUnderWay(job)) && (
          <Button
            size="small"
            className="ml-auto"
            onClick={() => setWanted({ kind: "evals", params: { proposal }, subject: "evals with this proposal" })}
          >
            {job ? "Check again" : "Check with evals"}
          </Button>
        )}
      </div>
      {job && reportOf(job)?.comparison && <ComparedQuestions comparison={reportOf(job)!.comparison!} />}
      {wanted && <StartJobDialog job={wanted} staysHere onClose={() => setWanted(undefined)} />}
    </section>
  );
}

function Outcome({ job, questions }: { job: Job | undefined; questions: number }) {
  if (!job)
    return <span className="text-ink-soft">{questions} eval questions can show what this proposal changes.</span>;
  const link = (
    <ContextLink path={`jobs/${job.id}`} className={linkClass}>
      run
    </ContextLink>
  );
  if (isUnderWay(job)) {
    const { stage, done, total } = job.progress ?? { stage: null, done: 0, total: null };
    return (
      <output>
        Checking: {stage ?? "starting"} {total === null ? "" : `${done} of ${total}`} ({link})
      </output>
    );
  }
  const comparison = reportOf(job)?.comparison;
  if (!comparison) {
    return (
      <span className="text-wait">
        The check ended without a result: {job.error?.message ?? job.state} ({link})
      </span>
    );
  }
  return (
    <output>
      <strong className="font-medium">{comparisonText(comparison)}</strong>
      <span className="text-ink-soft">
        {" "}
        of {comparison.compared} answers compared{reportOf(job)?.model === null && ", checks without a model"} ({link})
      </span>
    </output>
  );
}
