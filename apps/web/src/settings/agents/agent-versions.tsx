import type { Agent } from "@tandem/protocol";
import { useServerQuery } from "../../api/use-server-query.ts";
import { formatDateTime } from "../../text/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../panel.tsx";

/** The versions of an agent, newest first. */
export function AgentVersions({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const list = useServerQuery("agents.versions.list", { params: { agent_id: agent.id }, query: { limit: 100 } });
  const versions = list.data?.data ?? [];
  return (
    <Dialog onClose={onClose} title={`Versions of ${agent.name}`}>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      <ol className="space-y-3">
        {versions.map((version, index) => (
          <li key={version.version} className="rounded-lg border border-line p-3">
            <p className="flex items-center gap-2">
              <Badge tone={index === 0 ? "good" : "plain"}>version {version.version}</Badge>
              <span className="text-sm text-ink-faint">{formatDateTime(version.updated_at)}</span>
              <span className="ml-auto text-sm text-ink-soft">{version.model.id}</span>
            </p>
            <p className="mt-1 text-sm text-ink-soft">Changed: {changed(versions[index + 1], version)}</p>
            {version.system !== null && (
              <pre
                tabIndex={0}
                className="mt-2 max-h-40 overflow-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap"
              >
                {version.system}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

const FIELDS = [
  "name",
  "description",
  "model",
  "system",
  "tools",
  "mcp_servers",
  "skills",
  "multiagent",
  "metadata",
] as const;

function changed(before: Agent | undefined, after: Agent): string {
  if (!before) return "made";
  const names = FIELDS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return names.length === 0 ? "other fields" : names.join(", ").replace("mcp_servers", "MCP servers");
}
