import { useQueries } from "@tanstack/react-query";
import { ENVIRONMENT_METADATA, type Trust } from "@tandem/protocol";
import { api } from "../api/client.ts";
import { useEnvironments } from "../api/lists.ts";
import { isOwnFolder } from "../text/path-labels.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { ago } from "../text/format.ts";
import { Problem } from "../ui/problem.tsx";
import { Badge, Mono, PageHead, Panel, type Tone } from "./panel.tsx";

const STATES: Readonly<Record<Trust["state"], { tone: Tone; label: string; words: string }>> = {
  trusted: {
    tone: "good",
    label: "trusted",
    words: "Its settings, hooks, MCP servers and skills are active in sessions.",
  },
  untrusted: {
    tone: "wait",
    label: "not trusted",
    words: "Its settings, hooks, MCP servers and skills are inactive. CLAUDE.md is read as text.",
  },
  changed: { tone: "wait", label: "changed", words: "Changed since it was trusted, so it is inactive." },
  empty: { tone: "plain", label: "needs no trust", words: "It has no settings, hooks, MCP servers or skills." },
  refused: { tone: "bad", label: "refused", words: "" },
};

/** Whether settings and hooks of a folder may run. Trust is granted on the machine, never from a browser. */
export default function TrustPage() {
  const environments = useEnvironments();
  const sessions = useLive(feed.sessions);
  const folders = new Set([
    ...(environments.data ?? []).flatMap(({ metadata }) => metadata[ENVIRONMENT_METADATA.path] ?? []),
    ...[...sessions.values()]
      // A session's own folder has the trust of the folder it was created from.
      .filter(({ archived_at, folder }) => archived_at === null && folder !== "" && !isOwnFolder(folder))
      .map(({ folder }) => folder),
  ]);
  const all = useQueries({
    queries: [...folders].sort().map((folder) => ({
      queryKey: ["/v1/trust", { folder }],
      queryFn: () => api.call("trust.retrieve", { query: { folder } }),
      retry: false,
    })),
  });
  return (
    <>
      <PageHead title="Trust">
        Settings, hooks, MCP servers and skills of a folder can run programs. They are active only if the folder is
        trusted.
      </PageHead>
      <Problem error={environments.error} onRetry={() => void environments.refetch()} className="mb-4" />
      {all.map(({ data, error }, index) => {
        const folder = [...folders].sort()[index] ?? "";
        return (
          <Panel key={folder}>
            <div className="p-3">
              <p className="flex flex-wrap items-center gap-2">
                <Mono>{folder}</Mono>
                {data && <Badge tone={STATES[data.state].tone}>{STATES[data.state].label}</Badge>}
              </p>
              <Problem error={error} className="mt-2" />
              {data && (
                <>
                  <p className="mt-1 text-ink-soft">
                    {data.reason ?? STATES[data.state].words}
                    {data.since !== null && ` Since ${ago(data.since)}.`}
                  </p>
                  {data.files.length > 0 && (
                    <ul className="mt-2 space-y-0.5 font-mono text-xs text-ink-soft">
                      {data.files.map((file) => (
                        <li key={file} className="break-all">
                          {file}
                        </li>
                      ))}
                    </ul>
                  )}
                  {(data.state === "untrusted" || data.state === "changed") && (
                    <p className="mt-2 text-sm text-ink-faint">
                      Review these files, then run <Mono>tandem trust --folder {folder}</Mono> on the server’s machine.
                    </p>
                  )}
                </>
              )}
            </div>
          </Panel>
        );
      })}
    </>
  );
}
