import type { CredentialsReport } from "@tandem/protocol";
import { useServerQuery } from "../api/use-server-query.ts";
import { formatDateTime } from "../text/format.ts";
import { Problem } from "../ui/problem.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Badge, ListPanel, Mono, PageHead, Panel, Row, Rows, type Tone } from "./panel.tsx";
import { PAYERS } from "./status/server-status.ts";

type CredentialSource = CredentialsReport["places"][number];
type CredentialUse = CredentialsReport["tandem"][number];

const USES: Readonly<Record<CredentialUse["for"], string>> = { sessions: "Sessions", calls: "One-off calls" };
const STATES: Readonly<Record<CredentialUse["state"], { tone: Tone; label: string }>> = {
  found: { tone: "good", label: "found" },
  absent: { tone: "bad", label: "missing" },
  expired: { tone: "bad", label: "expired" },
  unknown: { tone: "plain", label: "not checked yet" },
  none_needed: { tone: "plain", label: "none needed" },
};

/** The credentials on the server's machine and which are used. The report holds no values. */
export default function CredentialsPage() {
  const { data, error, refetch } = useServerQuery("credentials.retrieve", {});
  return (
    <>
      <PageHead title="Credentials">
        Credentials that Tandem uses, and others on the server’s machine. Only kinds and locations are shown, never
        values.
      </PageHead>
      <Problem error={error} onRetry={() => void refetch()} className="mb-4" />
      {!data && !error && <Skeleton rows={["w-24", "h-20", "w-24", "h-32"]} />}
      {data && (
        <>
          <Panel title="In use">
            <Rows>
              {data.tandem.map((use) => (
                <UsedRow key={use.for} use={use} login={data.login} />
              ))}
              <ClaudeCodeRow used={data.claude_code} />
            </Rows>
          </Panel>
          <ListPanel title="Warnings" items={data.notices}>
            {({ about, text, fix }) => (
              <Row key={about + text}>
                <span className="min-w-0 flex-1">
                  <Mono>{about}</Mono>
                  <span className="mt-0.5 block text-ink-soft">{text}</span>
                  {fix !== undefined && <span className="mt-0.5 block text-sm text-ink-faint">{fix}</span>}
                </span>
              </Row>
            )}
          </ListPanel>
          <ListPanel
            title="Found on this machine"
            items={data.places}
            empty={<p className="mb-5 text-ink-soft">No other Claude credentials were found on the machine.</p>}
          >
            {(place) => <SourceRow key={place.id} place={place} />}
          </ListPanel>
          <p className="text-xs text-ink-faint">Claude Code’s folder: {data.config_dir.path}</p>
        </>
      )}
    </>
  );
}

function UsedRow({ use, login }: { use: CredentialUse; login: CredentialsReport["login"] }) {
  const { for: purpose, backend, source, state, payer, because } = use;
  const { tone, label } = STATES[state];
  // A login of the Console is a key of its account.
  const isKeyOfLogin = payer === "claude_login" && login.payer === "api_account";
  return (
    <Row>
      <span className="w-24 shrink-0 font-medium">{USES[purpose]}</span>
      <span className="min-w-0 flex-1">
        {source === null ? <span className="text-ink-soft">{backend}</span> : <Mono>{source}</Mono>}
        <span className="block text-xs text-ink-faint">
          {state === "none_needed"
            ? ""
            : `Billed to: ${isKeyOfLogin ? "Console account" : (PAYERS[payer] ?? payer)} · `}
          {because}
        </span>
      </span>
      <Badge tone={tone}>{label}</Badge>
    </Row>
  );
}

function ClaudeCodeRow({ used: { sends, cloud, host } }: { used: CredentialsReport["claude_code"] }) {
  const source = cloud ?? [...new Set(Object.values(sends))].join(" and ");
  return (
    <Row>
      <span className="w-24 shrink-0 font-medium">Claude Code</span>
      <span className="min-w-0 flex-1">
        {source === "" ? <span className="text-ink-soft">nothing</span> : <Mono>{source}</Mono>}
        <span className="block text-xs text-ink-faint">
          {`When started without Tandem${host === null ? "" : `, sent to ${host}`}`}
        </span>
      </span>
    </Row>
  );
}

function SourceRow({ place: { id, kind, state, detail, login } }: { place: CredentialSource }) {
  const isBroken = state === "unreadable" || state === "malformed";
  const isOver = login?.expired === true && !login.renewable;
  return (
    <Row>
      <span className="min-w-0 flex-1">
        <Mono>{id}</Mono>
        <span className="block text-xs text-ink-faint">{login ? loginSummary(login) : detail}</span>
      </span>
      <Badge>{kind.replaceAll("_", " ")}</Badge>
      {(isBroken || isOver) && <Badge tone="bad">{isOver ? "expired" : state}</Badge>}
    </Row>
  );
}

function loginSummary({ expires_at, expired, renewable, plan }: NonNullable<CredentialSource["login"]>): string {
  const until = expires_at === null ? undefined : `${expired ? "since" : "until"} ${formatDateTime(expires_at)}`;
  return [plan ?? "unknown plan", until, renewable ? "renews automatically" : "does not renew"]
    .filter((word) => word !== undefined)
    .join(", ");
}
