import type { SqlAnswer } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Gauge, Play, Square } from "lucide-react";
import { useId, useMemo, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { duration } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useOverview, useTables } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { errorPlace } from "./error-place.ts";
import { HistoryList } from "./history-list.tsx";
import { QueryEstimate } from "./query-estimate.tsx";
import { VerdictNote } from "./verdict-note.tsx";
import { ResultChart } from "./result-chart.tsx";
import { ResultTable } from "./result-table.tsx";
import { SqlEditor, type SqlEditorHandle } from "./sql-editor.tsx";
import { remember, sqlDraft } from "./sql-history.ts";

const LIMITS = ["100", "500", "1000"] as const;

interface Question {
  connection: string;
  sql: string;
  maxRows: number;
  estimateOnly: boolean;
}

/** Queries a database through the same guard and limits as agents: one statement that only reads. */
export default function SqlView() {
  const overview = useOverview();
  const linked = useSearch({ from: "/context/$" });
  const [sql, setSql] = useState(linked.q ?? sqlDraft.current.sql);
  const [chosen, setChosen] = useState(linked.connection ?? sqlDraft.current.connection);
  const [limit, setLimit] = useState<(typeof LIMITS)[number]>("100");
  const [tab, setTab] = useState<"rows" | "chart">("rows");
  const editor = useRef<SqlEditorHandle>(null);
  const running = useRef<AbortController>(undefined);
  const errorId = useId();
  const names = overview.data?.connections.map(({ name }) => name) ?? [];
  const connection = names.includes(chosen) ? chosen : (names[0] ?? "");
  const asking = useMutation({
    mutationFn: async (asked: Question): Promise<SqlAnswer> => {
      running.current = new AbortController();
      const started = performance.now();
      const note = (rows: number | null) => {
        if (asked.estimateOnly) return;
        const ms = performance.now() - started;
        remember({ at: new Date().toISOString(), connection: asked.connection, sql: asked.sql, rows, ms });
      };
      try {
        const { signal } = running.current;
        const answer = await api.call("context.sql", {
          body: {
            connection: asked.connection,
            sql: asked.sql,
            max_rows: asked.maxRows,
            estimate_only: asked.estimateOnly,
          },
          signal,
        });
        note(answer.rows.length);
        return answer;
      } catch (error) {
        note(null);
        throw running.current.signal.aborted ? new Error("The query was cancelled.") : error;
      }
    },
  });
  const canAsk = sql.trim() !== "" && connection !== "" && !asking.isPending;
  const ask = (estimateOnly: boolean): void => {
    if (canAsk) asking.mutate({ connection, sql: sql.trim(), maxRows: Number(limit), estimateOnly });
  };
  useShortcuts("SQL", { "mod+enter": ["Run the query", () => ask(false)] });
  const edit = (next: string): void => {
    setSql(next);
    sqlDraft.set({ connection, sql: next });
  };
  const { error } = asking;
  const place = useMemo(
    () => (error instanceof Error && asking.variables?.sql === sql.trim() ? errorPlace(sql, error.message) : undefined),
    [error, asking.variables, sql],
  );
  if (overview.data && names.length === 0) {
    return (
      <Empty title="No databases yet">
        <ContextLink path="sources/new" className={linkClass}>
          Add a database
        </ContextLink>{" "}
        to query it here.
      </Empty>
    );
  }
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto grid max-w-7xl gap-6 px-4 py-4 lg:grid-cols-[minmax(0,1fr)_17rem]">
        <div className="min-w-0">
          <div className="mb-2 flex flex-wrap items-center gap-x-1 gap-y-2">
            <Select
              isBare
              aria-label="Database"
              value={connection}
              onChange={(name) => {
                setChosen(name);
                sqlDraft.set({ connection: name, sql });
              }}
              options={names.map((name) => ({ value: name, label: name }))}
            />
            <TablePicker connection={connection} onPick={(name) => editor.current?.insert(name)} />
            <span className="ml-auto flex items-center gap-2">
              <Select
                isBare
                aria-label="Row limit"
                value={limit}
                onChange={setLimit}
                options={LIMITS.map((rows) => ({ value: rows, label: `${Number(rows).toLocaleString()} rows` }))}
              />
              <Button size="small" disabled={!canAsk} onClick={() => ask(true)}>
                <Gauge aria-hidden className="size-3.5" /> Estimate
              </Button>
              {asking.isPending ? (
                <Button size="small" onClick={() => running.current?.abort()}>
                  <Square aria-hidden className="size-3.5" /> Cancel
                </Button>
              ) : (
                <Button look="primary" size="small" disabled={!canAsk} keys="mod+enter" onClick={() => ask(false)}>
                  <Play aria-hidden className="size-3.5" /> Run
                </Button>
              )}
            </span>
          </div>
          <SqlEditor
            value={sql}
            onChange={edit}
            place={place}
            handle={editor}
            describedBy={error ? errorId : undefined}
          />
          <div className="mt-3 space-y-3">
            <div id={errorId}>
              <Problem error={error} />
              {place && (
                <p className="mt-1 text-sm text-bad">
                  Line {place.line}, column {place.column}
                </p>
              )}
            </div>
            <p aria-live="polite" className="text-sm text-ink-soft">
              {asking.isPending ? "Running …" : asking.data ? summary(asking.data, asking.variables) : ""}
            </p>
            {asking.data && !asking.isPending && (
              <>
                {asking.data.verdict && <VerdictNote verdict={asking.data.verdict} onUse={edit} />}
                <QueryEstimate estimate={asking.data.estimate} isOpen={asking.variables.estimateOnly} />
                {!asking.variables.estimateOnly && (
                  <>
                    <Tabs
                      label="Result"
                      value={tab}
                      onChange={setTab}
                      tabs={[
                        { name: "rows", label: "Rows", count: asking.data.rows.length },
                        { name: "chart", label: "Chart" },
                      ]}
                    />
                    {tab === "rows" ? (
                      <ResultTable key={asking.submittedAt} answer={asking.data} />
                    ) : (
                      <ResultChart key={asking.submittedAt} answer={asking.data} />
                    )}
                  </>
                )}
              </>
            )}
          </div>
        </div>
        <HistoryList
          onChoose={(past) => {
            setChosen(past.connection);
            edit(past.sql);
          }}
        />
      </div>
    </div>
  );
}

function summary({ rows, truncated, elapsed_ms: elapsed }: SqlAnswer, asked: Question | undefined): string {
  const time = elapsed === undefined ? "" : ` in ${duration(elapsed)}`;
  if (asked?.estimateOnly === true) return `Estimated${time}. The query was not run.`;
  const count = `${rows.length.toLocaleString()} ${rows.length === 1 ? "row" : "rows"}${time}`;
  return truncated ? `${count}. There are more: raise the limit, or aggregate in SQL.` : `${count}.`;
}

function TablePicker({ connection, onPick }: { connection: string; onPick: (name: string) => void }) {
  const tables = useTables();
  const own = tables.data?.data.filter((table) => table.connection === connection) ?? [];
  if (own.length === 0) return null;
  const isOneSchema = new Set(own.map(({ schema }) => schema)).size === 1;
  const nameOf = ({ schema, table }: { schema: string; table: string }) => (isOneSchema ? table : `${schema}.${table}`);
  return (
    <Select
      isBare
      aria-label="Insert a table"
      className="max-w-48"
      value=""
      onChange={(name) => name !== "" && onPick(name)}
      options={[
        { value: "", label: "Insert a table" },
        ...own.map((table) => ({ value: nameOf(table), label: nameOf(table) })),
      ]}
    />
  );
}
