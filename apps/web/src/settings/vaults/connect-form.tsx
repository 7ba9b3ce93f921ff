import type { Vault } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useForm } from "../../ui/use-form.ts";
import { TextField } from "../../ui/field.tsx";

/** Leaves for the login page of an MCP server's authorization server, which sends the browser back to the vaults. */
export function ConnectForm({ vault, onClose }: { vault: Vault; onClose: () => void }) {
  const { form: entry, field } = useForm({ url: "", client: "", secret: "" });
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
  const isReady = entry.url.trim() !== "";
  return (
    <FormDialog
      onClose={onClose}
      title={`Connect ${vault.display_name} to an MCP server`}
      verb="Continue to log in"
      isReady={isReady}
      action={connect}
    >
      <TextField
        label="MCP server URL"
        hint="You log in on the server’s own page. Tandem stores and refreshes the tokens."
        type="url"
        {...field("url")}
      />
      <details>
        <summary className="cursor-pointer text-sm text-ink-soft">OAuth client</summary>
        <div className="space-y-3 pt-2">
          <TextField
            label="Client ID (optional)"
            hint="If the server does not register clients by itself."
            {...field("client")}
          />
          <TextField
            label="Client secret (optional)"
            type="password"
            autoComplete="new-password"
            {...field("secret")}
          />
        </div>
      </details>
    </FormDialog>
  );
}
