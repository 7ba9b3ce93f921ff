import type { RefusedHost, SandboxHost } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { ago, formatSeconds } from "../text/format.ts";
import { folderName } from "../text/path-labels.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { AllowHostButtons, SANDBOX_HOSTS } from "./allow-host-buttons.tsx";
import { Badge, ListPanel, PageHead, Panel, Row } from "./panel.tsx";
import { useChange } from "../api/use-change.ts";
import { useForm } from "../ui/use-form.ts";
import { TextField } from "../ui/field.tsx";

const KEY = [SANDBOX_HOSTS];

/** Hosts that sandboxed sessions asked for, and those that people allowed. */
export default function SandboxPage() {
  const list = useServerQuery("sandbox.hosts.list", {});
  const [ended, setEnded] = useState<SandboxHost>();
  const { data: allowed = [], refused = [] } = list.data ?? {};
  return (
    <>
      <PageHead title="Sandbox">
        Sandboxed sessions connect only to package registries, git hosts of their folder, hosts of{" "}
        <code>sandbox.hosts</code> in tandem.yaml, and the hosts listed here.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {list.data && refused.length === 0 && allowed.length === 0 && (
        <Empty title="No hosts yet">A host that the sandbox refuses appears here, with the choice to allow it.</Empty>
      )}
      <ListPanel title="Refused" items={refused}>
        {(host) => <Refused key={`${host.session_id} ${host.host}`} refused={host} />}
      </ListPanel>
      <ListPanel title="Allowed" items={allowed}>
        {(host) => (
          <Row key={host.id}>
            <div className="min-w-40 flex-1">
              <p className="font-mono text-sm break-all">{host.host}</p>
              <p className="text-sm text-ink-faint">
                {host.scope === "folder" ? (
                  <span title={host.of}>{`folder ${folderName(host.of)}`}</span>
                ) : (
                  <SessionLink id={host.of} />
                )}
                {`, by ${host.by}, ${ago(host.created_at)}`}
                {host.expires_at !== undefined && `, until ${formatSeconds(host.expires_at)}`}
              </p>
            </div>
            <Button look="quiet" size="small" onClick={() => setEnded(host)}>
              Revoke …
            </Button>
          </Row>
        )}
      </ListPanel>
      <AllowInFolder />
      {ended && (
        <Confirm
          onClose={() => setEnded(undefined)}
          title="Revoke this host?"
          verb="Revoke"
          act={() => api.call("sandbox.hosts.delete", { params: { sandbox_host_id: ended.id } })}
          reloads={KEY}
        >
          <p className="font-mono">{ended.host}</p>
          <p className="mt-1">Takes effect with the next connection. Open connections stay.</p>
        </Confirm>
      )}
    </>
  );
}

const SessionLink = ({ id }: { id: string }) => (
  <Link to="/sessions/$session" params={{ session: id }} className="underline">
    one session
  </Link>
);

function Refused({ refused: { host, count, session_id, folder, last_at } }: { refused: RefusedHost }) {
  return (
    <Row>
      <span className="w-14">
        <Badge tone="bad">{`${count} ×`}</Badge>
      </span>
      <div className="min-w-40 flex-1">
        <p className="font-mono text-sm break-all">{host}</p>
        <p className="text-sm text-ink-faint">
          <SessionLink id={session_id} />
          <span title={folder}>{` in ${folderName(folder)}, ${ago(last_at)}`}</span>
        </p>
      </div>
      <AllowHostButtons host={host} session={session_id} />
    </Row>
  );
}

function AllowInFolder() {
  const { form, set, field } = useForm({ host: "", folder: "" });
  const allow = useChange(
    KEY,
    () =>
      api.call("sandbox.hosts.create", {
        body: { host: form.host.trim(), scope: "folder", folder: form.folder.trim() },
      }),
    () => set({ host: "" }),
  );
  return (
    <Panel title="Allow a host">
      <form
        className="grid gap-3 p-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          allow.mutate();
        }}
      >
        <TextField
          label="Host"
          hint="A name, optionally with *. in front or a port. No IP address."
          inputClassName="font-mono"
          placeholder="api.example.com"
          {...field("host")}
        />
        <TextField
          label="Folder"
          hint="Counts for its sessions, now and later."
          inputClassName="font-mono"
          placeholder="/home/me/project"
          {...field("folder")}
        />
        <Problem error={allow.error} className="sm:col-span-2" />
        <div className="flex items-center gap-3">
          <Button
            type="submit"
            look="primary"
            disabled={form.host.trim() === "" || form.folder.trim() === "" || allow.isPending}
          >
            Allow
          </Button>
          {allow.isSuccess && <output className="text-sm text-good">Allowed.</output>}
        </div>
      </form>
    </Panel>
  );
}
