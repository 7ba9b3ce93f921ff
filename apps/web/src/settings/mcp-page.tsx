import type { KnownMcpServer } from "@tandem/protocol";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { ago, formatDateTime } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { Badge, Mono, PageHead, Panel } from "./panel.tsx";
import { useChange } from "../api/use-change.ts";

const KEY = ["/v1/mcp_servers"];

/** Tool descriptions of MCP servers reach the model. A user must review them when they change. */
export default function McpPage() {
  const list = useServerQuery("mcp_servers.list", {});
  return (
    <>
      <PageHead title="MCP servers">
        MCP servers that sessions have used. If a server’s tools change after you accepted them, each of its calls needs
        approval.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {list.data?.data.length === 0 && (
        <Empty title="No MCP servers yet">
          Add them to <Mono>.mcp.json</Mono> of a trusted folder, or to an agent.
        </Empty>
      )}
      {list.data?.data
        .toSorted((a, b) => b.changes.length - a.changes.length || a.name.localeCompare(b.name))
        .map((server) => (
          <Server key={server.id} server={server} />
        ))}
    </>
  );
}

function Server({ server }: { server: KnownMcpServer }) {
  const accept = useChange(KEY, () =>
    api.call("mcp_servers.accept", { params: { mcp_server_id: server.id }, body: { hash: server.hash } }),
  );
  const hasChanged = server.changes.length > 0;
  return (
    <Panel>
      <div className="flex flex-wrap items-center gap-2 px-3 pt-2.5 pb-2">
        <h2 className="font-medium">{server.name}</h2>
        <Badge tone={hasChanged ? "wait" : "good"}>{hasChanged ? "has changed" : "accepted"}</Badge>
        <span className="text-sm text-ink-faint" title={formatDateTime(server.accepted.at)}>
          by {server.accepted.by}, {ago(server.accepted.at)}
        </span>
        {hasChanged && (
          <Button look="primary" className="ml-auto" disabled={accept.isPending} onClick={() => accept.mutate()}>
            Accept the current tools
          </Button>
        )}
        <p className="basis-full text-sm break-all text-ink-faint">{server.origin}</p>
      </div>
      <Problem error={accept.error} className="mx-3 mb-2" />
      {hasChanged && (
        <ul className="mx-3 mb-2 list-disc rounded-md bg-wait-soft py-1.5 pr-2 pl-6 text-sm text-wait">
          {server.changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      )}
      <ul className="divide-y divide-line border-t border-line">
        {server.tools.map(({ name, description, inputSchema }) => (
          <li key={name}>
            <details className="group">
              <summary className="cursor-pointer px-3 py-1.5 hover:bg-raised">
                <span className="font-mono text-sm">{name}</span>
                <span className="ml-2 text-sm text-ink-faint group-open:hidden">
                  {description?.split("\n", 1)[0]?.slice(0, 80)}
                </span>
              </summary>
              <div className="space-y-2 px-3 pb-2">
                <p className="text-sm whitespace-pre-wrap text-ink-soft">{description ?? "No description."}</p>
                <pre
                  // Makes long schemas scrollable by keyboard.
                  tabIndex={0}
                  className="max-h-72 overflow-auto rounded-md bg-raised p-2 font-mono text-xs"
                >
                  {JSON.stringify(inputSchema, null, 2)}
                </pre>
              </div>
            </details>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
