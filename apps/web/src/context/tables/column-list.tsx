import { KeyRound } from "lucide-react";
import { count } from "../../text/format.ts";
import type { Column, Table } from "../context-api.ts";
import { LabelledIcon } from "../labelled-icon.tsx";
import { DescriptionList } from "./description-list.tsx";

const SHOWN = 5;
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

export function ColumnList({ table }: { table: Table }) {
  const inKeys = new Set(table.primary_key);
  return (
    <section aria-labelledby="columns" className="mt-6">
      <h3 id="columns" className="mb-1.5 text-sm font-medium text-ink-soft">
        Columns <span className="text-ink-faint">{table.columns.length}</span>
      </h3>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {table.columns.map((column) => (
          <li
            key={column.name}
            className="grid gap-x-4 gap-y-1 px-3 py-2 md:grid-cols-[minmax(9rem,1fr)_minmax(0,2fr)_minmax(9rem,1.2fr)]"
          >
            <div className="min-w-0">
              <div className="flex items-center gap-1.5">
                <span
                  className={`font-mono text-sm font-medium wrap-anywhere ${column.gone ? "text-ink-faint line-through" : ""}`}
                >
                  {column.name}
                </span>
                {inKeys.has(column.name) && (
                  <LabelledIcon icon={KeyRound} words="primary key" className="size-3.5 shrink-0 text-wait" />
                )}
              </div>
              <div className="font-mono text-xs text-ink-faint">
                {column.type.toLowerCase()}
                {column.nullable === false ? " not null" : ""}
              </div>
            </div>
            <div className="min-w-0 text-sm">
              {column.gone && <p className="text-bad">The database does not have it any more.</p>}
              <DescriptionList descriptions={column.descriptions} />
            </div>
            <Profile column={column} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Statistics of a sample of values. */
function Profile({ column: { profile } }: { column: Column }) {
  if (!profile) return <div />;
  const { nulls, distinct, min, max, samples = [] } = profile;
  const facts = [
    ...(distinct === undefined ? [] : [`${count(distinct)} distinct`]),
    ...(nulls === undefined || nulls === 0 ? [] : [`${percent.format(nulls)} empty`]),
    ...(min === undefined || max === undefined ? [] : [`${String(min)} – ${String(max)}`]),
  ];
  return (
    <div className="min-w-0 text-xs text-ink-faint">
      <p className="tabular-nums">{facts.join(" · ")}</p>
      {samples.length > 0 && (
        <ul aria-label="Sampled values" className="mt-1 flex flex-wrap gap-1">
          {samples.slice(0, SHOWN).map((value, at) => (
            <li
              key={at}
              title={String(value)}
              className="max-w-40 truncate rounded bg-raised px-1 font-mono text-[0.6875rem] leading-4 text-ink-soft"
            >
              {String(value)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
