import type { FleetWorker } from "@tandem/protocol";
import { ago, duration } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Row, type Tone } from "../panel.tsx";

const TONES: Readonly<Record<FleetWorker["state"], Tone>> = { live: "good", draining: "wait", gone: "bad" };
const ROLES: Readonly<Record<FleetWorker["role"], string>> = {
  all: "server and worker",
  server: "server",
  worker: "worker",
};

const PAYERS: Readonly<Record<string, string>> = {
  nobody: "a demo",
  claude_login: "a Claude login",
  claude_oauth_token: "a Claude OAuth token",
  anthropic_api_key: "an API key",
};

/** A server without a worker row runs alone; no other worker can take over. */
const isAlone = ({ id }: FleetWorker): boolean => id === "wrk_here";

export const canDrain = (worker: FleetWorker): boolean =>
  worker.state === "live" && worker.role !== "server" && !isAlone(worker);

export function WorkerRow({ worker, onDrain }: { worker: FleetWorker; onDrain: () => void }) {
  const { id, machine, name, role, state, sessions, max_sessions: most, turns_per_minute: rate } = worker;
  const labels = Object.entries(worker.labels).map(([label, value]) => `${label}=${value}`);
  const tenants = worker.tenants === null ? [] : [`tenants: ${worker.tenants.join(", ")}`];
  const more = [
    isAlone(worker) ? "the only process" : id,
    worker.payer === null ? "" : `on ${PAYERS[worker.payer] ?? worker.payer}`,
    worker.version,
    `started ${ago(worker.started_at)}`,
  ];
  return (
    <Row>
      <div className="min-w-52 flex-1">
        <p className="flex flex-wrap items-center gap-2 font-medium" title={name}>
          {machine}{" "}
          <Badge tone={TONES[state]}>{state === "gone" ? `gone for ${duration(worker.silent_ms)}` : state}</Badge>
          <span className="font-normal text-ink-soft">{ROLES[role]}</span>
        </p>
        {worker.problem && <p className="text-sm text-bad">Takes no work: {worker.problem}.</p>}
        {role !== "server" && (
          <p className="text-sm text-ink-soft">
            {sessions}
            {most === null ? "" : ` of ${most}`} {sessions === 1 && most === null ? "session" : "sessions"}, {rate}{" "}
            turns a minute
          </p>
        )}
        <p className="text-sm break-words text-ink-faint">
          {[...labels, ...tenants, ...more].filter(Boolean).join(" · ")}
        </p>
      </div>
      {canDrain(worker) && (
        <Button look="quiet" size="small" onClick={onDrain}>
          Drain …
        </Button>
      )}
    </Row>
  );
}
