import type { Vault } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";

const EMPTY = { url: "", client: "", secret: "" };

/** Leaves for the login page of an MCP server's authorization server, which sends the browser back to the vaults. */
export function ConnectForm({ vault, onClose }: { vault: Vault; onClose: () => void }) {
  const [entry, setEntry] = useState(EMPTY);
  const set = (part: Partial<typeof EMPTY>): void => setEntry({ ...entry, ...part });
  const connect = useMutation({
    mutationFn: async () => {
      const { authorization_url: link } = await api.call("vaults.logins.create", {
        body: {
          vault_id: vault.id,
          mcp_server_url: entry.url.trim(),
          redirect_uri: `${location.origin}/oauth/return`,
          ...(entry.client.trim() !== "" && { client_id: entry.client.trim() }),
          ...(entry.secret !== "" && { client_secret: entry.secret }),
        },
      });
      location.assign(link);
    },
  });
  const isReady = entry.url.trim() !== "" && !connect.isPending;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={`Connect ${vault.display_name} to an MCP server`}
      footer={
        <Button look="primary" disabled={!isReady} onClick={() => connect.mutate()}>
          Continue to log in
        </Button>
      }
    >
      <form
        className="space-y-3"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) connect.mutate();
        }}
      >
        <Field
          label="MCP server URL"
          hint="You log in on the server’s own page. Tandem stores and refreshes the tokens."
        >
          {(ids) => (
            <TextInput {...ids} type="url" value={entry.url} onChange={(event) => set({ url: event.target.value })} />
          )}
        </Field>
        <details>
          <summary className="cursor-pointer text-sm text-ink-soft">OAuth client</summary>
          <div className="space-y-3 pt-2">
            <Field label="Client ID (optional)" hint="If the server does not register clients by itself.">
              {(ids) => (
                <TextInput {...ids} value={entry.client} onChange={(event) => set({ client: event.target.value })} />
              )}
            </Field>
            <Field label="Client secret (optional)">
              {(ids) => (
                <TextInput
                  {...ids}
                  type="password"
                  autoComplete="new-password"
                  value={entry.secret}
                  onChange={(event) => set({ secret: event.target.value })}
                />
              )}
            </Field>
          </div>
        </details>
        <Problem error={connect.error} />
      </form>
    </Dialog>
  );
}
