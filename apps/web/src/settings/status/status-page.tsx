import type { ServerStatus } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { Stethoscope } from "lucide-react";
import { useServerQuery } from "../../api/use-server-query.ts";
import { api } from "../../api/client.ts";
import { isStopDialogOpen } from "../../state/open-dialogs.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Facts, Mono, PageHead, Panel, Row, Rows } from "../panel.tsx";
import { Findings } from "./findings.tsx";
import { bytes, PAYERS, toneOf } from "./server-status.ts";
import { TimeAgo } from "../../ui/time-ago.tsx";

/** The model backend, billing, the login or key, and the doctor's checks. */
export default function StatusPage() {
  const status = useServerQuery("status.retrieve", {}, { staleTime: 30_000 });
  const doctor = useMutation({ mutationFn: () => api.call("status.examine") });
  return (
    <>
      <PageHead
        title="Status"
        action={
          <Button
            icon={<Stethoscope aria-hidden className="size-4" />}
            disabled={doctor.isPending}
            onClick={() => doctor.mutate()}
          >
            {doctor.isPending ? "Checking …" : "Check everything"}
          </Button>
        }
      >
        Model and billing: the backend, who is billed, and the login or key in use.
      </PageHead>
      <Problem error={doctor.error} className="mb-4" />
      {doctor.data && <Findings findings={doctor.data.data} />}
      <Problem error={status.error} onRetry={() => void status.refetch()} className="mb-4" />
      {status.isPending && <p className="mb-5 text-ink-faint">Loading …</p>}
      {status.data && <StatusDetails status={status.data} />}
      <Panel title="Emergency stop">
        <Rows>
          <Row>
            <p className="min-w-52 flex-1 text-ink-soft">
              Interrupts every turn of every session, ends every process and blocks new turns.
            </p>
            <Button look="danger" keys="x x" onClick={() => isStopDialogOpen.set(true)}>
              Stop everything …
            </Button>
          </Row>
        </Rows>
      </Panel>
    </>
  );
}

function SandboxFacts({ sandbox }: { sandbox: ServerStatus["sessions"]["sandbox"] }) {
  const { on, reason, fix, warning, details = [] } = sandbox;
  return (
    <>
      {on ? <Badge tone="good">on</Badge> : `off: ${reason ?? "not enabled"}`}
      {on && reason !== undefined && ` ${reason}`}
      {details.map((line) => (
        <p key={line} className="text-sm text-ink-faint">
          {line}
        </p>
      ))}
      {warning !== undefined && <Badge tone="bad">{warning}</Badge>}
      {fix !== undefined && <p className="text-sm text-ink-soft">{`Fix: ${fix}`}</p>}
    </>
  );
}

function StatusDetails({ status }: { status: ServerStatus }) {
  const { storage, sessions } = status;
  return (
    <>
      <Panel
        title="Sessions"
        note="Sessions run on Claude Code. Set llm.claudeCode.auth in tandem.yaml to choose the credential."
      >
        <Facts
          facts={[
            [
              "Billed to",
              status.demo ? "No one (demo with scripted replies)" : (PAYERS[sessions.payer] ?? sessions.payer),
            ],
            ["Credential", <Auth key="auth" auth={sessions.auth} isNeeded={!status.demo} />],
            ["Sandbox", <SandboxFacts key="sandbox" sandbox={sessions.sandbox} />],
            [
              "Folders",
              status.roots.map((root) => (
                <p key={root}>
                  <Mono>{root}</Mono>
                </p>
              )),
            ],
          ]}
        />
      </Panel>
      <Panel
        title="One-off calls"
        note={
          <>
            Used by scans, ingest and memory. <Mono>tandem setup</Mono> selects the backend.
          </>
        }
      >
        <Facts
          facts={[
            ["Backend", status.backend],
            ["Billed to", PAYERS[status.payer] ?? status.payer],
            status.credential !== null && ["Credential from", <Mono key="from">{status.credential}</Mono>],
            ["Login or key", <Auth key="auth" auth={status.auth} isNeeded={status.backend !== "none"} />],
            [
              "Models",
              status.models
                .filter(({ falls_back }) => !falls_back)
                .map(({ role, model }) => `${role}: ${model}`)
                .join(", "),
            ],
            status.ignored.length > 0 && [
              "Ignored",
              status.ignored.map(({ key, why }) => (
                <p key={key}>
                  <Mono>{key}</Mono> {why}
                </p>
              )),
            ],
          ]}
        />
      </Panel>
      <Panel title="Server">
        <Facts
          facts={[
            ["Version", `Tandem ${status.version} on Node ${status.node}`],
            ["Started", <TimeAgo at={status.started_at} key="up" />],
            ["Config", status.file === null ? "Defaults (no file)" : <Mono key="file">{status.file}</Mono>],
            [
              "Storage",
              storage.state === "failed" ? (
                <span key="storage" className="text-bad">
                  {storage.detail} {storage.fix}
                </span>
              ) : (
                <span key="storage">
                  {storage.engine}, <Mono>{storage.place}</Mono>
                  {storage.state === "ready" && `, ${bytes(storage.bytes)}, schema ${storage.schema}`}
                </span>
              ),
            ],
          ]}
        />
      </Panel>
    </>
  );
}

function Auth({ auth: { state, detail, fix, account }, isNeeded }: { auth: ServerStatus["auth"]; isNeeded: boolean }) {
  return (
    <>
      <p>
        <Badge tone={isNeeded ? toneOf(state) : "plain"}>{state.replaceAll("_", " ")}</Badge>{" "}
        <span className="text-ink-soft">{detail}</span>
      </p>
      {account && (
        <p className="text-sm text-ink-soft">
          {[account.email, account.organization, account.plan].filter(Boolean).join(", ")}
        </p>
      )}
      {isNeeded && fix !== "" && <p className="text-sm text-ink-faint">{fix}</p>}
    </>
  );
}
