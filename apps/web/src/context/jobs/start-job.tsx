import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { DatabaseZap, FileInput } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import type { Overview } from "../context-api.ts";
import { startJob } from "./job-api.ts";

/** Starts a scan of a database or an ingest of documents. */
export function StartJob({ overview: { connections, sources, job_kinds } }: { overview: Overview }) {
  const [connection, setConnection] = useState(connections[0]?.name ?? "");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const starting = useMutation({
    mutationFn: ({ kind, params }: { kind: string; params: Record<string, unknown> }) => startJob(kind, params),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ["/v1/jobs"] });
      await navigate({ to: "/context/$", params: { _splat: `jobs/${id}` } });
    },
  });
  const canScan = job_kinds.includes("scan") && connections.length > 0;
  const canIngest = job_kinds.includes("ingest") && sources.length > 0;
  if (!canScan && !canIngest) return null;
  return (
    <div className="sticky top-0 z-10 border-b border-line bg-surface p-2">
      <div className="flex flex-wrap items-center gap-2">
        {canScan && (
          <span className="flex items-center">
            <Button
              size="small"
              disabled={starting.isPending}
              onClick={() => starting.mutate({ kind: "scan", params: { connection } })}
            >
              <DatabaseZap aria-hidden className="size-3.5" /> Scan {connections.length === 1 ? connection : ""}
            </Button>
            {connections.length > 1 && (
              <Select
                isBare
                aria-label="Database to scan"
                value={connection}
                onChange={setConnection}
                options={connections.map(({ name }) => ({ value: name, label: name }))}
              />
            )}
          </span>
        )}
        {canIngest && (
          <Button
            size="small"
            disabled={starting.isPending}
            onClick={() => starting.mutate({ kind: "ingest", params: {} })}
          >
            <FileInput aria-hidden className="size-3.5" /> Ingest documents
          </Button>
        )}
      </div>
      <Problem error={starting.error} className="mt-2" />
    </div>
  );
}
