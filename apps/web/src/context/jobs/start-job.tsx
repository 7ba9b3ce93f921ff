import { DatabaseZap, FileInput } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/select.tsx";
import type { Overview } from "../context-api.ts";
import { StartJobDialog, type WantedJob } from "./start-job-dialog.tsx";

/** Starts a scan of a database or an ingest of documents, after a look at its estimated cost. */
export function StartJob({ overview: { connections, sources } }: { overview: Overview }) {
  const [chosen, setChosen] = useState("");
  const [job, setJob] = useState<WantedJob>();
  const connection = connections.some(({ name }) => name === chosen) ? chosen : (connections[0]?.name ?? "");
  const names = sources.map(({ name }) => name);
  if (connections.length === 0 && names.length === 0) return null;
  return (
    <div className="sticky top-0 z-10 border-b border-line bg-surface p-2">
      <div className="flex flex-wrap items-center gap-2">
        {connections.length > 0 && (
          <span className="flex items-center">
            <Button size="small" onClick={() => setJob({ kind: "scan", params: { connection }, subject: connection })}>
              <DatabaseZap aria-hidden className="size-3.5" /> Scan {connections.length === 1 ? connection : ""} …
            </Button>
            {connections.length > 1 && (
              <Select
                isBare
                aria-label="Database to scan"
                value={connection}
                onChange={setChosen}
                options={connections.map(({ name }) => ({ value: name, label: name }))}
              />
            )}
          </span>
        )}
        {names.length > 0 && (
          <Button
            size="small"
            onClick={() => setJob({ kind: "ingest", params: { sources: names }, subject: names.join(", ") })}
          >
            <FileInput aria-hidden className="size-3.5" /> Ingest documents …
          </Button>
        )}
      </div>
      {job && <StartJobDialog job={job} onClose={() => setJob(undefined)} />}
    </div>
  );
}
