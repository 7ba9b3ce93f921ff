import { EyeOff, KeyRound } from "lucide-react";
import { approximateCount } from "../../text/format.ts";
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
                {column.nullable ? "" : " not null"}
              </div>
            </div>
            <div className="min-w-0 text-sm">
              {column.gone && <p className="text-bad">No longer in the database.</p>}
              {column.stale && (
                <p className="text-wait">
                  Stale: written for <span className="font-mono text-xs">{column.descriptions?.ai_for}</span>.
                </p>
              )}
              <DescriptionList descriptions={column.descriptions} />
            </div>
            <Profile column={column} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Figures and values. A column with few values has all of them. */
function Profile({ column: { labels, profile } }: { column: Column }) {
  if (!profile && !labels) return <div />;
  const {
    nulls,
    distinct,
    distinct_is,
    min,
    max,
    samples = [],
    samples_are,
    stored,
    personal,
    shapes = [],
  } = profile ?? {};
  const facts = [
    ...(distinct === undefined ? [] : [`${approximateCount(distinct, distinct_is)} distinct`]),
    ...(nulls === undefined || nulls === 0 ? [] : [`${percent.format(nulls)} empty`]),
    ...(min === undefined || max === undefined ? [] : [`${String(min)} – ${String(max)}`]),
  ];
  const [first, rest] = [samples.slice(0, SHOWN), samples.slice(SHOWN)];
  return (
    <div className="min-w-0 text-xs text-ink-faint">
      <p className="tabular-nums">{facts.join(" · ")}</p>
      {stored && (
        <p className="mt-0.5 flex items-center gap-1 text-ink-soft">
          <EyeOff aria-hidden className="size-3.5 shrink-0" />
          <span>
            {personal ? <span title={personal}>Personal data</span> : "Values"},{" "}
            {stored === "shapes" ? "stored as shapes" : "not stored"}
          </span>
        </p>
      )}
      {shapes.length > 0 && <ValueList label="Shapes of values" values={shapes} />}
      {labels && <ValueList label="Labels of the enum" values={labels} />}
      {first.length > 0 && !labels && <ValueList label={VALUES[samples_are ?? "examples"]} values={first} />}
      {rest.length > 0 && !labels && (
        <details className="mt-1">
          <summary className="cursor-pointer">
            {rest.length} more {samples_are === "all" ? "" : samples_are === "sample" ? "in the sample" : "examples"}
          </summary>
          <ValueList label="More values" values={rest} />
        </details>
      )}
    </div>
  );
}

const VALUES = { all: "All values", sample: "Values in a sample", examples: "Sampled values" };

function ValueList({ label, values }: { label: string; values: readonly (string | number | boolean)[] }) {
  return (
    <ul aria-label={label} className="mt-1 flex flex-wrap gap-1">
      {values.map((value, at) => (
        <li
          key={at}
          title={String(value)}
          className="max-w-40 truncate rounded bg-raised px-1 font-mono text-[0.6875rem] leading-4 text-ink-soft"
        >
          {String(value)}
        </li>
      ))}
    </ul>
  );
}
