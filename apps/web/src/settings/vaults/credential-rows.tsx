import type { CredentialState, VaultCredential } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { VAULTS_KEY } from "../../api/lists.ts";
import { formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Mono, Row, type Tone } from "../panel.tsx";
import { useChange } from "../../api/use-change.ts";
import { TimeAgo } from "../../ui/time-ago.tsx";

const STATES: Readonly<Record<CredentialState, { label: string; tone: Tone }>> = {
  unverified: { label: "not checked", tone: "plain" },
  valid: { label: "valid", tone: "good" },
  invalid: { label: "refused", tone: "bad" },
  expired: { label: "expired", tone: "bad" },
  refresh_failed: { label: "refresh failed", tone: "bad" },
  archived: { label: "archived", tone: "plain" },
};

const credentialsKey = (vault: string) => [...VAULTS_KEY, vault, "credentials"];
/** A vault has at most 20 active credentials. */
const LIMIT = 100;

/** The active credentials of a vault. */
export function CredentialRows({ vault }: { vault: string }) {
  const key = credentialsKey(vault);
  const list = useQuery({
    queryKey: key,
    queryFn: ({ signal }) =>
      api.call("vaults.credentials.list", { params: { vault_id: vault }, query: { limit: LIMIT }, signal }),
  });
  const [removed, setRemoved] = useState<VaultCredential>();
  return (
    <>
      {list.error && (
        <Row>
          <Problem error={list.error} onRetry={() => void list.refetch()} className="basis-full" />
        </Row>
      )}
      {list.data?.data.length === 0 && (
        <Row>
          <p className="text-ink-faint">No credentials.</p>
        </Row>
      )}
      {list.data?.data.map((credential) => (
        <CredentialRow key={credential.id} credential={credential} onRemove={() => setRemoved(credential)} />
      ))}
      {removed && (
        <Confirm
          onClose={() => setRemoved(undefined)}
          title="Archive this credential?"
          verb="Archive"
          act={() => api.call("vaults.credentials.archive", { params: { vault_id: vault, credential_id: removed.id } })}
          reloads={key}
        >
          {`Deletes the secret for ${removed ? subjectOf(removed) : ""} and keeps the record. Running sessions lose it.`}
        </Confirm>
      )}
    </>
  );
}

function CredentialRow({ credential, onRemove }: { credential: VaultCredential; onRemove: () => void }) {
  const { id, vault_id, auth, display_name: name, tandem } = credential;
  const check = useChange(credentialsKey(vault_id), () =>
    api.call("vaults.credentials.mcpOAuthValidate", { params: { vault_id, credential_id: id } }),
  );
  const { label, tone } = STATES[tandem.state];
  const isChecked = auth.type !== "environment_variable";
  return (
    <Row>
      <div className="min-w-52 flex-1">
        {name !== null && <p className="font-medium">{name}</p>}
        <p className="break-all">
          <Mono>{subjectOf(credential)}</Mono>
        </p>
        <p className="text-sm text-ink-faint">{describe(auth)}</p>
      </div>
      <output className="flex items-center gap-2 text-sm text-ink-faint">
        {tandem.checked_at !== null && <TimeAgo at={tandem.checked_at} />}
        {isChecked && <Badge tone={tone}>{label}</Badge>}
      </output>
      {isChecked && (
        <Button
          size="small"
          aria-label={`Check ${subjectOf(credential)}`}
          disabled={check.isPending}
          onClick={() => check.mutate()}
        >
          {check.isPending ? "Checking …" : "Check"}
        </Button>
      )}
      <Button look="quiet" size="small" aria-label={`Archive ${subjectOf(credential)}`} onClick={onRemove}>
        Archive …
      </Button>
      <Problem error={check.error} className="basis-full" />
    </Row>
  );
}

const subjectOf = ({ auth }: VaultCredential): string =>
  auth.type === "environment_variable" ? auth.secret_name : auth.mcp_server_url;

function describe(auth: VaultCredential["auth"]): string {
  if (auth.type === "static_bearer") return "Bearer token for this MCP server";
  if (auth.type === "mcp_oauth") {
    const expiry = auth.expires_at === null ? "" : `, access token until ${formatDateTime(auth.expires_at)}`;
    return `OAuth for this MCP server${auth.refresh ? ", refreshed automatically" : ""}${expiry}`;
  }
  const { networking, injection_location: at } = auth;
  const hosts = networking.type === "limited" ? networking.allowed_hosts.join(", ") : "any host";
  const part = at.header && at.body ? "" : at.header ? ", in headers" : ", in bodies";
  return `Variable, sent to ${hosts}${part}`;
}
