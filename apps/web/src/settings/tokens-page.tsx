import type { Token } from "@tandem/protocol";
import { useState } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { ago } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Problem } from "../ui/problem.tsx";
import { AddButton } from "./add-button.tsx";
import { Badge, ListPanel, PageHead, Row } from "./panel.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useChange } from "../api/use-change.ts";
import { SecretDialog } from "./secret-dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { type Option, SelectField } from "../ui/select.tsx";
import { TimeAgo } from "../ui/time-ago.tsx";

const KEY = ["/v1/tokens"];
type Scope = Token["scopes"][number];
const SCOPES: readonly Option<Scope>[] = [
  { value: "run", label: "run: start sessions, answer, read" },
  { value: "read", label: "read: view only" },
  { value: "admin", label: "admin: everything, including settings" },
];

/** Tokens for the server's API. */
export default function TokensPage() {
  const tenant = useOwnTenant();
  const list = useServerQuery("tokens.list", {});
  const [isNew, setNew] = useState(false);
  const [ended, setEnded] = useState<Token>();
  return (
    <>
      <PageHead title="Tokens" action={<AddButton onClick={() => setNew(true)}>New token</AddButton>}>
        Access tokens of programs and browsers. Only a hash of each token is stored.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      <ListPanel items={list.data?.data}>
        {(token) => (
          <Row key={token.id}>
            <div className="min-w-40 flex-1">
              <p className="flex items-center gap-2 font-medium">
                {token.name === "page" ? "A browser" : token.name}
                {token.is_own && <Badge tone="good">this browser</Badge>}
                {token.tenant !== tenant.id && <Badge>of {token.tenant}</Badge>}
              </p>
              <p className="text-sm text-ink-faint">
                made <TimeAgo at={token.created_at} />
                {token.last_used_at === null ? ", never used" : `, used ${ago(token.last_used_at)}`}
              </p>
            </div>
            <Badge>{token.scopes.join(", ")}</Badge>
            <Button look="quiet" size="small" onClick={() => setEnded(token)}>
              Revoke …
            </Button>
          </Row>
        )}
      </ListPanel>
      {isNew && <NewToken onClose={() => setNew(false)} />}
      {ended && (
        <Confirm
          onClose={() => setEnded(undefined)}
          title={ended.is_own ? "Revoke this browser's own token?" : `Revoke ${ended.name}?`}
          verb="Revoke"
          act={() => api.call("tokens.delete", { params: { token_id: ended.id } })}
          reloads={KEY}
        >
          {ended.is_own
            ? "You are signed out immediately. To sign in again, run `tandem open`."
            : "Requests with this token fail from now on. This cannot be undone."}
        </Confirm>
      )}
    </>
  );
}

function NewToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("run");
  const create = useChange(KEY, () => api.call("tokens.create", { body: { name: name.trim(), scopes: [scope] } }));
  if (create.data) {
    const { name: made, secret } = create.data;
    return (
      <SecretDialog
        title={`The token ${made}`}
        note="Copy it now: it is shown only once."
        secret={secret}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      onClose={onClose}
      title="New token"
      size="narrow"
      verb="Create"
      isReady={name.trim() !== ""}
      action={create}
    >
      <TextField
        label="Name"
        hint="The person or program that uses it. Shown in the audit log."
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <SelectField label="Scope" value={scope} onChange={setScope} options={SCOPES} />
    </FormDialog>
  );
}
