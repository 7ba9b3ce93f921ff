import type { Skill, SkillVersion } from "@tandem/protocol";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { saveDownload } from "../../api/save-download.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge, Facts, Mono, Row, Rows } from "../panel.tsx";
import { UploadSkill } from "./upload-skill.tsx";
import { TimeAgo } from "../../ui/time-ago.tsx";

const MOST = 100;

/** The versions of a skill, its agents, and the actions on it. */
export function SkillDetails({ skill }: { skill: Skill }) {
  const params = { skill_id: skill.id };
  const queries = useQueryClient();
  const versions = useQuery({
    queryKey: ["/v1/skills", skill.id, "versions"],
    queryFn: ({ signal }) => api.call("skills.versions.list", { params, query: { limit: MOST }, signal }),
  });
  const use = useQuery({
    queryKey: ["/v1/skills", skill.id, "use"],
    queryFn: ({ signal }) => api.call("skills.use", { params, signal }),
  });
  const [isUploading, setUploading] = useState(false);
  const [deleted, setDeleted] = useState<"skill" | SkillVersion>();
  const download = useMutation({
    mutationFn: async (version: string) =>
      saveDownload(await api.download("skills.versions.download", { params: { ...params, version } })),
  });
  const all = versions.data?.data ?? [];
  const agents = use.data?.agents ?? [];
  const isUploaded = skill.source.type === "custom";
  const remove = async () => {
    if (deleted === "skill") {
      await api.call("skills.delete", { params });
      // Not its details, which would be loaded once more.
      const isList = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.length < 3;
      await queries.invalidateQueries({ queryKey: ["/v1/skills"], predicate: isList });
      return;
    }
    await api.call("skills.versions.delete", { params: { ...params, version: deleted?.id ?? "" } });
    await queries.invalidateQueries({ queryKey: ["/v1/skills"] });
  };
  return (
    <div className="mt-2 space-y-3 pb-1">
      <Problem error={versions.error ?? use.error ?? download.error} />
      {all[0] && <p className="text-ink-soft">{all[0].description}</p>}
      <div className="overflow-hidden rounded-md border border-line">
        <Facts
          facts={[
            ["Id", <Mono key="id">{skill.id}</Mono>],
            ["Name", all[0]?.name ?? "…"],
            use.data?.folder != null && ["Folder", <Mono key="folder">{use.data.folder}</Mono>],
            [
              "Agents",
              use.data === undefined ? (
                "…"
              ) : !isUploaded ? (
                "All sessions in this folder load it."
              ) : agents.length === 0 ? (
                "None"
              ) : (
                <ul key="agents">
                  {agents.map((agent) => (
                    <li key={agent.id}>
                      <Link className="underline" to="/settings/$" params={{ _splat: "agents" }}>
                        {agent.name}
                      </Link>{" "}
                      <span className="text-ink-faint">
                        {agent.version === "latest" ? "newest version" : agent.version}
                      </span>
                    </li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
      </div>
      <h3 className="text-sm font-medium text-ink-soft">Versions</h3>
      <div className="overflow-hidden rounded-md border border-line">
        <Rows>
          {all.map((version) => (
            <Row key={version.id}>
              <div className="min-w-40 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <Mono>{version.id}</Mono>
                  {version.id === skill.latest_version_id && <Badge tone="good">newest</Badge>}
                </p>
                <p className="text-sm text-ink-faint">
                  <TimeAgo at={version.created_at} />
                  {sizeOf(use.data?.versions.find(({ id }) => id === version.id))}
                </p>
              </div>
              <Button
                look="quiet"
                size="small"
                icon={<Download aria-hidden className="size-4" />}
                onClick={() => download.mutate(version.id)}
              >
                Download
              </Button>
              {isUploaded && all.length > 1 && (
                <Button look="quiet" size="small" onClick={() => setDeleted(version)}>
                  Delete …
                </Button>
              )}
            </Row>
          ))}
        </Rows>
      </div>
      {isUploaded && (
        <div className="flex flex-wrap gap-2">
          <Button size="small" onClick={() => setUploading(true)}>
            Upload new version
          </Button>
          <Button look="quiet" size="small" onClick={() => setDeleted("skill")}>
            Delete skill …
          </Button>
        </div>
      )}
      {isUploading && <UploadSkill skill={skill} onClose={() => setUploading(false)} />}
      {deleted && (
        <Confirm
          onClose={() => setDeleted(undefined)}
          title={deleted === "skill" ? `Delete ${skill.display_name}?` : "Delete this version?"}
          verb="Delete"
          act={remove}
        >
          {agents.length === 0
            ? "No agent has this skill. "
            : `${agents.map(({ name }) => name).join(", ")} ${agents.length === 1 ? "has" : "have"} this skill. `}
          Sessions that have it continue without it. This cannot be undone.
        </Confirm>
      )}
    </div>
  );
}

const sizeOf = (version: { files: number; size_bytes: number } | undefined): string =>
  version
    ? `, ${version.files} ${version.files === 1 ? "file" : "files"}, ${Math.ceil(version.size_bytes / 1_000)} kB`
    : "";
