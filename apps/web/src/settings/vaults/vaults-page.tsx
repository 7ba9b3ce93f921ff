import type { Vault } from "@tandem/protocol";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useVaults, VAULTS_KEY } from "../../api/lists.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddButton } from "../add-button.tsx";
import { PageHead, Panel, Row, Rows } from "../panel.tsx";
import { ConnectForm } from "./connect-form.tsx";
import { CredentialForm } from "./credential-form.tsx";
import { CredentialRows } from "./credential-rows.tsx";
import { FinishLogin } from "./finish-login.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { TextField } from "../../ui/field.tsx";

type Ending = { vault: Vault; action: "archive" | "delete" };

/** Vaults and their credentials. No answer of the server contains a secret, so none can be shown. */
export default function VaultsPage() {
  const queries = useQueryClient();
  const list = useVaults();
  const [isNew, setNew] = useState(false);
  const [filled, setFilled] = useState<Vault>();
  const [connected, setConnected] = useState<Vault>();
  const [ending, setEnding] = useState<Ending>();
  const verb = ending?.action === "delete" ? "Delete" : "Archive";
  return (
    <>
      <PageHead title="Vaults" action={<AddButton onClick={() => setNew(true)}>New vault</AddButton>}>
        Credentials that sessions may use: for MCP servers, and for programs in the sandbox. Secrets are encrypted and
        never shown again.
      </PageHead>
      <FinishLogin onConnected={() => queries.invalidateQueries({ queryKey: VAULTS_KEY })} />
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {list.data?.length === 0 && (
        <Empty title="No vaults yet">Create a vault, add a credential, and choose the vault in a new session.</Empty>
      )}
      {list.data?.map((vault) => (
        <Panel key={vault.id} title={vault.display_name} note={vault.id}>
          <Rows>
            <CredentialRows vault={vault.id} />
            <Row>
              <Button size="small" onClick={() => setFilled(vault)}>
                Add credential …
              </Button>
              <Button size="small" onClick={() => setConnected(vault)}>
                Connect …
              </Button>
              <Button size="small" onClick={() => setEnding({ vault, action: "archive" })}>
                Archive …
              </Button>
              <Button look="quiet" size="small" onClick={() => setEnding({ vault, action: "delete" })}>
                Delete …
              </Button>
            </Row>
          </Rows>
        </Panel>
      ))}
      {connected && <ConnectForm vault={connected} onClose={() => setConnected(undefined)} />}
      {isNew && <NewVault onClose={() => setNew(false)} />}
      {filled && <CredentialForm vault={filled} onClose={() => setFilled(undefined)} />}
      {ending && (
        <Confirm
          onClose={() => setEnding(undefined)}
          title={`${verb} ${ending.vault.display_name}?`}
          verb={verb}
          act={async () => {
            const params = { vault_id: ending.vault.id };
            await (ending.action === "delete"
              ? api.call("vaults.delete", { params })
              : api.call("vaults.archive", { params }));
            // Not its credentials, which would be loaded once more.
            await queries.invalidateQueries({ queryKey: VAULTS_KEY, exact: true });
          }}
        >
          {ending.action === "delete"
            ? "Deletes the vault with its credentials. This cannot be undone."
            : "Deletes all its secrets and keeps the records. Running sessions lose the credentials; new sessions cannot use the vault."}
        </Confirm>
      )}
    </>
  );
}

function NewVault({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useChange(
    VAULTS_KEY,
    () => api.call("vaults.create", { body: { display_name: name.trim() } }),
    onClose,
  );
  const isReady = name.trim() !== "";
  return (
    <FormDialog onClose={onClose} title="New vault" size="narrow" verb="Create" isReady={isReady} action={create}>
      <TextField
        label="Name"
        hint="Such as the person, team or project whose credentials it holds."
        maxLength={255}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
