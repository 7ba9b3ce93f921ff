import { approximateCount } from "../../text/format.ts";
import { Waypoints } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { type TableSummary, useOverview, useTables } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { Panes, PaneRow } from "../panes.tsx";
import { TableView } from "./table-view.tsx";
import { FilteredList } from "../filtered-list.tsx";

/** The catalogue by connection and schema, with the selected table. */
export function TablesView({ table }: { table: string }) {
  const tables = useTables();
  if (tables.data?.data.length === 0) return <NoTables />;
  const graph = (
    <ContextLink path="graph" aria-label="All tables as a graph" className={buttonClass("plain")}>
      <Waypoints aria-hidden className="size-4" /> Graph
    </ContextLink>
  );
  const list = (
    <FilteredList query={tables} noun="table" link={graph} textOf={textOf} groupOf={schemaOf}>
      {(each) => (
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
      )}
    </FilteredList>
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

const textOf = ({ id, description }: TableSummary): string => `${id} ${description}`;
const schemaOf = ({ connection, schema }: TableSummary): string => `${connection} › ${schema}`;

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
