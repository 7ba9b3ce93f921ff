import { useMemo, useState } from "react";
import { approximateCount, count } from "../../text/format.ts";
import { Waypoints } from "lucide-react";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { type TableSummary, useOverview, useTables } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { TableView } from "./table-view.tsx";

/** Longer lists are cut; the filter is faster than scrolling. */
const ROWS = 400;

/** The catalogue by connection and schema, with the selected table. */
export function TablesView({ table }: { table: string }) {
  const tables = useTables();
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(ROWS);
  const found = useMemo(() => matching(tables.data?.data ?? [], filter), [tables.data, filter]);
  const groups = useMemo(() => bySchema(found.slice(0, most)), [found, most]);
  if (tables.data?.data.length === 0) return <NoTables />;
  const list = (
    <>
      <div className="sticky top-0 z-10 flex gap-2 border-b border-line bg-surface p-2">
        <TextInput
          type="search"
          aria-label="Filter tables"
          placeholder="Filter"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <ContextLink path="graph" aria-label="All tables as a graph" className={buttonClass("plain")}>
          <Waypoints aria-hidden className="size-4" /> Graph
        </ContextLink>
      </div>
      <Problem error={tables.error} onRetry={() => void tables.refetch()} className="m-3" />
      {groups.map(([place, own]) => (
        <div key={place} className="py-1.5">
          <h2 className="px-4 pt-1 pb-0.5 text-xs font-medium text-ink-faint">{place}</h2>
          {own.map((each) => (
            <PaneRow key={each.id} path={`tables/${each.id}`} isCurrent={each.id === table}>
              <span className="flex items-baseline gap-2">
                <span className="truncate font-mono text-sm">{each.table}</span>
                {each.type === "view" && <span className="text-xs text-ink-faint">view</span>}
                {each.rows !== null && (
                  <span className="ml-auto shrink-0 text-xs text-ink-faint tabular-nums">
                    {approximateCount(each.rows, each.rows_are)} rows
                  </span>
                )}
              </span>
              <span className="block truncate text-xs text-ink-faint">{each.description}</span>
            </PaneRow>
          ))}
        </div>
      ))}
      {found.length > most && (
        <Button look="quiet" size="small" className="m-2" onClick={() => setMost(most + ROWS)}>
          {count(found.length - most)} more
        </Button>
      )}
      {tables.data && groups.length === 0 && <p className="p-4 text-sm text-ink-faint">No table matches.</p>}
    </>
  );
  return (
    <Panes
      label="Tables"
      back="tables"
      list={list}
      detail={table === "" ? undefined : <TableView key={table} table={table} />}
    />
  );
}

const matching = (tables: readonly TableSummary[], filter: string): TableSummary[] => {
  const term = filter.trim().toLowerCase();
  return tables.filter(({ id, description }) => `${id} ${description}`.toLowerCase().includes(term));
};

const bySchema = (tables: readonly TableSummary[]): [place: string, tables: TableSummary[]][] => [
  ...Map.groupBy(tables, ({ connection, schema }) => `${connection} › ${schema}`),
];

function NoTables() {
  const { data } = useOverview();
  const hasConnection = (data?.connections.length ?? 0) > 0;
  return (
    <Empty title="The catalogue has no tables yet">
      <ContextLink path={hasConnection ? "jobs" : "sources/new"} className={linkClass}>
        {hasConnection ? "Scan the database" : "Add a database"}
      </ContextLink>
      {!hasConnection && ", then scan it."}
    </Empty>
  );
}
