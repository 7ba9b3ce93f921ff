import type { CredentialCreateParams, Vault } from "@tandem/protocol";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { VAULTS_KEY } from "../../api/lists.ts";
import { TextField } from "../../ui/field.tsx";
import { type Option, SelectField } from "../../ui/select.tsx";

type Kind = "static_bearer" | "environment_variable";
type SecretPlacement = "both" | "header" | "body";

const KINDS: readonly Option<Kind>[] = [
  { value: "static_bearer", label: "Bearer token for an MCP server" },
  { value: "environment_variable", label: "Variable for programs in the sandbox" },
];
const PLACES: readonly Option<SecretPlacement>[] = [
  { value: "both", label: "Headers and bodies" },
  { value: "header", label: "Headers only" },
  { value: "body", label: "Bodies only" },
];

interface Entry {
  kind: Kind;
  name: string;
  url: string;
  variable: string;
  hosts: string;
  place: SecretPlacement;
  secret: string;
}

const EMPTY: Entry = {
  kind: "static_bearer",
  name: "",
  url: "",
  variable: "",
  hosts: "",
  place: "both",
  secret: "",
};

/** Adds a credential to a vault. The secret leaves the page with the request. */
export function CredentialForm({ vault, onClose }: { vault: Vault; onClose: () => void }) {
  const [entry, setEntry] = useState(EMPTY);
  const set = (part: Partial<Entry>): void => setEntry({ ...entry, ...part });
  const add = useChange(
    VAULTS_KEY,
    () => api.call("vaults.credentials.create", { params: { vault_id: vault.id }, body: bodyOf(entry) }),
    onClose,
  );
  const isServer = entry.kind === "static_bearer";
  const needed = isServer ? [entry.url] : [entry.variable, entry.hosts];
  const isReady = [...needed, entry.secret].every((text) => text.trim() !== "");
  return (
    <FormDialog
      onClose={onClose}
      title={`Add credential to ${vault.display_name}`}
      verb="Add"
      isReady={isReady}
      action={add}
    >
      <SelectField label="Type" value={entry.kind} onChange={(kind) => set({ kind })} options={KINDS} />
      {isServer ? (
        <TextField
          label="MCP server URL"
          hint="As in the agent’s MCP servers. Another path or port is another server."
          type="url"
          value={entry.url}
          onChange={(url) => set({ url })}
        />
      ) : (
        <VariableFields entry={entry} set={set} />
      )}
      <TextField
        label={isServer ? "Token" : "Value"}
        hint="Encrypted when stored. It cannot be shown again."
        type="password"
        autoComplete="new-password"
        value={entry.secret}
        onChange={(secret) => set({ secret })}
      />
      <TextField label="Name (optional)" maxLength={255} value={entry.name} onChange={(name) => set({ name })} />
    </FormDialog>
  );
}

function VariableFields({ entry, set }: { entry: Entry; set: (part: Partial<Entry>) => void }) {
  return (
    <>
      <TextField
        label="Variable"
        hint="The agent’s programs see a placeholder. The sandbox replaces it in requests."
        inputClassName="font-mono"
        placeholder="API_KEY"
        value={entry.variable}
        onChange={(variable) => set({ variable })}
      />
      <TextField
        label="Hosts"
        hint="Only these get the value, separated by commas. * stands for every host that the session may reach."
        inputClassName="font-mono"
        placeholder="api.example.com, *.example.org"
        value={entry.hosts}
        onChange={(hosts) => set({ hosts })}
      />
      <SelectField label="Replace in" value={entry.place} onChange={(place) => set({ place })} options={PLACES} />
    </>
  );
}

function bodyOf({ kind, name, url, variable, hosts, place, secret }: Entry): CredentialCreateParams {
  const display_name = name.trim() === "" ? null : name.trim();
  if (kind === "static_bearer") {
    return { display_name, auth: { type: kind, mcp_server_url: url.trim(), token: secret.trim() } };
  }
  const allowed_hosts = hosts.split(",").flatMap((host) => host.trim() || []);
  return {
    display_name,
    auth: {
      type: kind,
      secret_name: variable.trim(),
      secret_value: secret,
      networking: allowed_hosts.includes("*") ? { type: "unrestricted" } : { type: "limited", allowed_hosts },
      ...(place !== "both" && { injection_location: { [place]: true } }),
    },
  };
}
