import type { CredentialCreateParams, Vault } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { VAULTS_KEY } from "../../api/lists.ts";
import { useForm } from "../../ui/use-form.ts";
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

const EMPTY = {
  kind: "static_bearer" as Kind,
  name: "",
  url: "",
  variable: "",
  hosts: "",
  place: "both" as SecretPlacement,
  secret: "",
};

/** Adds a credential to a vault. The secret leaves the page with the request. */
export function CredentialForm({ vault, onClose }: { vault: Vault; onClose: () => void }) {
  const { form: entry, field } = useForm(EMPTY);
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
      <SelectField label="Type" {...field("kind")} options={KINDS} />
      {isServer ? (
        <TextField
          label="MCP server URL"
          hint="As in the agent’s MCP servers. Another path or port is another server."
          type="url"
          {...field("url")}
        />
      ) : (
        <VariableFields field={field} />
      )}
      <TextField
        label={isServer ? "Token" : "Value"}
        hint="Encrypted when stored. It cannot be shown again."
        type="password"
        autoComplete="new-password"
        {...field("secret")}
      />
      <TextField label="Name (optional)" maxLength={255} {...field("name")} />
    </FormDialog>
  );
}

function VariableFields({ field }: Pick<ReturnType<typeof useForm<typeof EMPTY>>, "field">) {
  return (
    <>
      <TextField
        label="Variable"
        hint="The agent’s programs see a placeholder. The sandbox replaces it in requests."
        inputClassName="font-mono"
        placeholder="API_KEY"
        {...field("variable")}
      />
      <TextField
        label="Hosts"
        hint="Only these get the value, separated by commas. * stands for every host that the session may reach."
        inputClassName="font-mono"
        placeholder="api.example.com, *.example.org"
        {...field("hosts")}
      />
      <SelectField label="Replace in" {...field("place")} options={PLACES} />
    </>
  );
}

function bodyOf({ kind, name, url, variable, hosts, place, secret }: typeof EMPTY): CredentialCreateParams {
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
