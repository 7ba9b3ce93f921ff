import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FleetLimit, FleetQueue, FleetStatus } from "@tandem/protocol";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useServerQuery } from "../../api/use-server-query.ts";
import { api } from "../../api/client.ts";
import { formatDateTime, duration } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Facts, ListPanel, Mono, PageHead, Panel, Row, Rows } from "../panel.tsx";
import { canDrain, WorkerRow } from "./worker-row.tsx";
import { TimeAgo } from "../../ui/time-ago.tsx";

const KEY = ["/v1/fleet"];
const DEAD_KEY = ["/v1/fleet/dead"];
/** Workers send a heartbeat every two seconds. */
const LOOK_EVERY_MS = 3_000;

/** The workers of the fleet, the queue, and problems that need attention. */
export default function FleetPage() {
  const fleet = useServerQuery("fleet.retrieve", {}, { refetchInterval: LOOK_EVERY_MS });
  const [leaving, setLeaving] = useState<FleetStatus["workers"][number]>();
  const status = fleet.data;
  return (
    <>
      <PageHead title="Fleet">
        All processes on this database, the sessions they run and the work that is queued.
      </PageHead>
      <Problem error={fleet.error} onRetry={() => void fleet.refetch()} className="mb-4" />
      {fleet.isPending && <p className="mb-5 text-ink-faint">Loading …</p>}
      {status && (
        <>
          <Panel title="Now">
            <Facts
              facts={[
                ["Turns", <TurnsChart key="turns" throughput={status.throughput} />],
                [
                  "Session leases",
                  status.leases.abandoned > 0
                    ? `${status.leases.held}, ${status.leases.abandoned} expired`
                    : status.leases.held,
                ],
                ["Queued", <QueueTable key="waiting" queue={status.queue} />],
              ]}
            />
          </Panel>
          <ListPanel
            title="Workers"
            items={status.workers}
            empty={
              <Panel title="Workers">
                <Rows>
                  <Row>No worker.</Row>
                </Rows>
              </Panel>
            }
            {...(status.workers.some(canDrain) && {
              note: "A drained worker takes no new work and hands its sessions to other workers.",
            })}
          >
            {(worker) => <WorkerRow key={worker.id} worker={worker} onDrain={() => setLeaving(worker)} />}
          </ListPanel>
          <Limits limits={status.limits} />
          {status.dead > 0 && <FailedJobs count={status.dead} />}
        </>
      )}
      {leaving && (
        <Confirm
          onClose={() => setLeaving(undefined)}
          title={`Drain the worker on ${leaving.machine}?`}
          verb="Drain"
          act={() => api.call("fleet.workers.drain", { params: { worker_id: leaving.id } })}
          reloads={KEY}
        >
          Its turns pause at the next safe point and continue on other workers; then its process ends. Sessions whose
          folder exists only on that machine wait until a worker runs there again.
        </Confirm>
      )}
    </>
  );
}

function QueueTable({ queue }: { queue: readonly FleetQueue[] }) {
  const waiting = queue.filter((place) => place.waiting > 0);
  if (waiting.length === 0) return "nothing";
  return (
    <ul className="space-y-1">
      {waiting.map(({ place, waiting: count, oldest_ms: oldest, served }) => (
        <li key={place} className="flex flex-wrap items-center gap-x-2">
          <span className="tabular-nums">{count}</span>
          <span className="text-ink-soft">for</span>
          {place === "any" ? "any worker" : <Mono>{place}</Mono>}
          {oldest !== null && <span className="text-ink-faint">the oldest since {duration(oldest)}</span>}
          {!served && <Badge tone="bad">no matching worker</Badge>}
        </li>
      ))}
    </ul>
  );
}

function Limits({ limits }: { limits: readonly FleetLimit[] }) {
  return (
    <ListPanel
      title="Quotas used up"
      note="Sessions on these accounts wait for the reset before their next request."
      items={limits}
    >
      {({ account, kind, model, resets_at: resets, learned_by: by }) => (
        <Row key={`${account} ${kind} ${model ?? ""}`}>
          <div className="min-w-40 flex-1">
            <p>
              <Mono>{account}</Mono> <span className="text-ink-soft">{model ?? kind.replaceAll("_", " ")}</span>
            </p>
            <p className="text-sm break-words text-ink-faint">as {by} reported</p>
          </div>
          <Badge tone="wait">
            resets <time dateTime={resets}>{formatDateTime(resets)}</time>
          </Badge>
        </Row>
      )}
    </ListPanel>
  );
}

function FailedJobs({ count }: { count: number }) {
  const queries = useQueryClient();
  const letters = useQuery({
    queryKey: [...DEAD_KEY, count],
    queryFn: ({ signal }) => api.call("fleet.dead.list", { signal }),
  });
  const requeue = useMutation({
    mutationFn: (key: string) => api.call("fleet.dead.requeue", { params: { key } }),
    onSuccess: () => Promise.all([KEY, DEAD_KEY].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return (
    <Panel title="Failed jobs" note="These jobs used up their retries. Fix the cause, then retry.">
      <Problem error={letters.error ?? requeue.error} className="m-3" />
      <Rows>
        {letters.data?.data.map(({ key, kind, tenant, error, attempts, at }) => (
          <Row key={key}>
            <div className="min-w-40 flex-1">
              <p>
                <Mono>{key}</Mono> <span className="text-ink-soft">{kind}</span>
                {tenant !== "default" && <span className="text-ink-soft"> of {tenant}</span>}
              </p>
              <p className="text-sm break-words text-bad">{error}</p>
              <p className="text-sm text-ink-faint">
                after {attempts} {attempts === 1 ? "attempt" : "attempts"}, <TimeAgo at={at} />
              </p>
            </div>
            <Button
              size="small"
              icon={<RotateCw aria-hidden className="size-4" />}
              disabled={requeue.isPending}
              onClick={() => requeue.mutate(key)}
            >
              Retry
            </Button>
          </Row>
        ))}
      </Rows>
    </Panel>
  );
}

/** Turns per minute, with a bar for each of the last minutes. */
function TurnsChart({ throughput }: { throughput: FleetStatus["throughput"] }) {
  const { turns_per_minute: rate, minutes } = throughput;
  const most = Math.max(1, ...minutes);
  return (
    <div className="flex items-end gap-3">
      <span className="tabular-nums">{rate} a minute</span>
      <span className="sr-only">{`Of each of the last ${minutes.length} minutes: ${minutes.join(", ")}`}</span>
      <span aria-hidden className="flex h-5 items-end gap-0.5">
        {minutes.map((count, index) => (
          <span
            // A minute is identified by its position.
            key={`${index}`}
            className={`w-2 rounded-sm ${count === 0 ? "bg-line" : "bg-accent"}`}
            style={{ height: count === 0 ? "2px" : `${Math.max(15, (count / most) * 100)}%` }}
          />
        ))}
      </span>
      <span className="text-sm text-ink-faint">last ten minutes</span>
    </div>
  );
}
