import { SquareTerminal, Waypoints } from "lucide-react";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { approximateCount } from "../../text/format.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { useOverview, usePages } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { tableQuery } from "../sql/table-query.ts";
import { ColumnList } from "./column-list.tsx";
import { DescriptionList } from "./description-list.tsx";
import { JoinList } from "./join-list.tsx";

/** A table of the catalogue. Values from the database are untrusted data and rendered as plain text. */
export function TableView({ table: id }: { table: string }) {
  const { data: table, error, refetch } = useServerQuery("context.tables.retrieve", { query: { name: id } });
  const pages = usePages();
  const overview = useOverview();
  const navigate = useNavigate();
  useShortcuts("Table", {
    g: ["Show the join graph", () => void navigate({ to: "/context/$", params: { _splat: `graph/${id}` } })],
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  if (!table) return null;
  const driver = overview.data?.connections.find(({ name }) => name === table.connection)?.driver;
  const about = pages.data?.data.filter(({ refs }) => refs.includes(`table:${id}`)) ?? [];
  return (
    <article className="mx-auto max-w-5xl px-4 py-5 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-mono text-lg font-semibold wrap-anywhere">
          <span className="font-normal text-ink-faint">{table.schema}.</span>
          {table.table}
        </h2>
        {table.type === "view" && <Badge>view</Badge>}
        {table.gone && <Badge look="bad">no longer in the database</Badge>}
        <ContextLink
          path="sql"
          search={{ connection: table.connection, q: tableQuery(driver, table) }}
          className={`${buttonClass("plain", "small")} ml-auto`}
        >
          <SquareTerminal aria-hidden className="size-3.5" /> Query
        </ContextLink>
        <ContextLink path={`graph/${id}`} className={buttonClass("plain", "small")}>
          <Waypoints aria-hidden className="size-3.5" /> Joins as a graph <Kbd keys="g" />
        </ContextLink>
      </div>
      <DescriptionList descriptions={table.descriptions} isLong />
      <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 text-sm">
        <TableFact name="Connection">{table.connection}</TableFact>
        {table.rows !== null && <TableFact name="Rows">{approximateCount(table.rows, table.rows_are)}</TableFact>}
        {table.primary_key.length > 0 && (
          <TableFact name="Primary key" isCode>
            {table.primary_key.join(", ")}
          </TableFact>
        )}
        {table.unique_keys?.map((key) => (
          <TableFact key={key.join()} name="Unique" isCode>
            {key.join(", ")}
          </TableFact>
        ))}
        {table.verified_keys?.map(({ columns, of }) => (
          <TableFact key={columns.join()} name={of === "all" ? "Unique in the data" : "Unique in a sample"} isCode>
            {columns.join(", ")}
          </TableFact>
        ))}
        {table.checks?.map((check) => (
          <TableFact key={check} name="Check" isCode>
            {check}
          </TableFact>
        ))}
        {table.profiled === "sample" && <TableFact name="Figures of columns">from a sample of the rows</TableFact>}
      </dl>
      {table.notes !== undefined && (
        <p className="mt-3 rounded-md border border-line bg-surface px-3 py-2 text-sm whitespace-pre-wrap">
          {table.notes}
        </p>
      )}
      {about.length > 0 && (
        <p className="mt-3 text-sm text-ink-soft">
          In the wiki:{" "}
          {about.map(({ key, title }, at) => (
            <span key={key}>
              {at > 0 && ", "}
              <ContextLink path={`wiki/${key}`} className={linkClass}>
                {title}
              </ContextLink>
            </span>
          ))}
        </p>
      )}
      {table.metrics && table.metrics.length > 0 && (
        <p className="mt-3 text-sm text-ink-soft">
          Metrics:{" "}
          {table.metrics.map(({ name }, at) => (
            <span key={name}>
              {at > 0 && ", "}
              <ContextLink path={`metrics/${table.connection}/${name}`} className={linkClass}>
                {name}
              </ContextLink>
            </span>
          ))}
        </p>
      )}
      <ColumnList table={table} />
      <JoinList table={table} />
    </article>
  );
}

function TableFact({ name, isCode = false, children }: { name: string; isCode?: boolean; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-ink-faint">{name}</dt>
      <dd className={isCode ? "font-mono text-xs leading-5" : ""}>{children}</dd>
    </div>
  );
}
