import type { Token } from "@tandem/protocol";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { ago, formatDateTime } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, TextInput } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { type Option, Select } from "../ui/select.tsx";
import { AddButton } from "./add-button.tsx";
import { Badge, PageHead, Panel, Row, Rows } from "./panel.tsx";

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
  const queries = useQueryClient();
  const list = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.call("tokens.list", { signal }) });
  const [isNew, setNew] = useState(false);
  const [ended, setEnded] = useState<Token>();
  return (
    <>
      <PageHead title="Tokens" action={<AddButton onClick={() => setNew(true)}>New token</AddButton>}>
        Access tokens of programs and browsers. Only a hash of each token is stored.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {list.data && (
        <Panel>
          <Rows>
            {list.data.data.map((token) => (
              <Row key={token.id}>
                <div className="min-w-40 flex-1">
                  <p className="flex items-center gap-2 font-medium">
                    {token.name === "page" ? "A browser" : token.name}
                    {token.is_own && <Badge tone="good">this browser</Badge>}
                    {token.tenant !== tenant.id && <Badge>of {token.tenant}</Badge>}
                  </p>
                  <p className="text-sm text-ink-faint">
                    made{" "}
                    <time dateTime={token.created_at} title={formatDateTime(token.created_at)}>
                      {ago(token.created_at)}
                    </time>
                    {token.last_used_at === null ? ", never used" : `, used ${ago(token.last_used_at)}`}
                  </p>
                </div>
                <Badge>{token.scopes.join(", ")}</Badge>
                <Button look="quiet" size="small" onClick={() => setEnded(token)}>
                  Revoke …
                </Button>
              </Row>
            ))}
          </Rows>
        </Panel>
      )}
      {isNew && <NewToken onClose={() => setNew(false)} />}
      <Confirm
        isOpen={ended !== undefined}
        onOpenChange={() => setEnded(undefined)}
        title={ended?.is_own ? "Revoke this browser's own token?" : `Revoke ${ended?.name ?? ""}?`}
        verb="Revoke"
        act={async () => {
          await api.call("tokens.delete", { params: { token_id: ended?.id ?? "" } });
          await queries.invalidateQueries({ queryKey: KEY });
        }}
      >
        {ended?.is_own
          ? "You are signed out immediately. To sign in again, run `tandem open`."
          : "Requests with this token fail from now on. This cannot be undone."}
      </Confirm>
    </>
  );
}

function NewToken({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("run");
  const [isCopied, setCopied] = useState(false);
  const create = useMutation({
    mutationFn: () => api.call("tokens.create", { body: { name: name.trim(), scopes: [scope] } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
  const made = create.data;
  if (made) {
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        title={`The token ${made.name}`}
        description="Copy it now: it is shown only once."
        footer={
          <>
            <Button
              look="primary"
              icon={<Copy aria-hidden className="size-4" />}
              onClick={() => void navigator.clipboard.writeText(made.secret).then(() => setCopied(true))}
            >
              {isCopied ? "Copied" : "Copy"}
            </Button>
            <Button onClick={onClose}>Done</Button>
          </>
        }
      >
        <p className="rounded-md bg-raised p-3 font-mono text-sm break-all select-all">{made.secret}</p>
      </Dialog>
    );
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="New token"
      size="narrow"
      footer={
        <Button look="primary" disabled={name.trim() === "" || create.isPending} onClick={() => create.mutate()}>
          Create
        </Button>
      }
    >
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") create.mutate();
        }}
      >
        <Field label="Name" hint="The person or program that uses it. Shown in the audit log.">
          {(ids) => (
            <TextInput {...ids} maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Scope">
          {(ids) => <Select {...ids} className="w-full" value={scope} onChange={setScope} options={SCOPES} />}
        </Field>
        <Problem error={create.error} />
      </form>
    </Dialog>
  );
}
