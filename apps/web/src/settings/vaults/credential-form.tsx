import type { CredentialCreateParams, Vault } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { Option } from "../../ui/select.tsx";
import { SelectField } from "../../ui/select-field.tsx";

type Kind = "static_bearer" | "environment_variable";
type Place = "both" | "header" | "body";

const KINDS: readonly Option<Kind>[] = [
  { value: "static_bearer", label: "Bearer token for an MCP server" },
  { value: "environment_variable", label: "Variable for programs in the sandbox" },
];
const PLACES: readonly Option<Place>[] = [
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
  place: Place;
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
export function CredentialForm({
  vault,
  onClose,
  onAdded,
}: {
  vault: Vault;
  onClose: () => void;
  onAdded: () => Promise<void>;
}) {
  const [entry, setEntry] = useState(EMPTY);
  const set = (part: Partial<Entry>): void => setEntry({ ...entry, ...part });
  const add = useMutation({
    mutationFn: () => api.call("vaults.credentials.create", { params: { vault_id: vault.id }, body: bodyOf(entry) }),
    onSuccess: async () => {
      await onAdded();
      onClose();
    },
  });
  const isServer = entry.kind === "static_bearer";
  const needed = isServer ? [entry.url] : [entry.variable, entry.hosts];
  const isReady = [...needed, entry.secret].every((text) => text.trim() !== "") && !add.isPending;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={`Add credential to ${vault.display_name}`}
      footer={
        <Button look="primary" disabled={!isReady} onClick={() => add.mutate()}>
          Add
        </Button>
      }
    >
      <form
        className="space-y-3"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) add.mutate();
        }}
      >
        <SelectField label="Type" value={entry.kind} onChange={(kind) => set({ kind })} options={KINDS} />
        {isServer ? (
          <Field label="MCP server URL" hint="As in the agent’s MCP servers. Another path or port is another server.">
            {(ids) => (
              <TextInput {...ids} type="url" value={entry.url} onChange={(event) => set({ url: event.target.value })} />
            )}
          </Field>
        ) : (
          <VariableFields entry={entry} set={set} />
        )}
        <Field label={isServer ? "Token" : "Value"} hint="Encrypted when stored. It cannot be shown again.">
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
        <Field label="Name (optional)">
          {(ids) => (
            <TextInput
              {...ids}
              maxLength={255}
              value={entry.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Problem error={add.error} />
      </form>
    </Dialog>
  );
}

function VariableFields({ entry, set }: { entry: Entry; set: (part: Partial<Entry>) => void }) {
  return (
    <>
      <Field label="Variable" hint="The agent’s programs see a placeholder. The sandbox replaces it in requests.">
        {(ids) => (
          <TextInput
            {...ids}
            className="font-mono"
            placeholder="API_KEY"
            value={entry.variable}
            onChange={(event) => set({ variable: event.target.value })}
          />
        )}
      </Field>
      <Field
        label="Hosts"
        hint="Only these get the value, separated by commas. * stands for every host that the session may reach."
      >
        {(ids) => (
          <TextInput
            {...ids}
            className="font-mono"
            placeholder="api.example.com, *.example.org"
            value={entry.hosts}
            onChange={(event) => set({ hosts: event.target.value })}
          />
        )}
      </Field>
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
