import { ArrowLeft, ArrowRight } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "../badge.tsx";
import type { Join, JoinOrigin, Table } from "../context-api.ts";
import { LabelledIcon } from "../labelled-icon.tsx";
import { ContextLink } from "../context-link.tsx";
import { Confidence } from "./confidence.tsx";

const ORIGINS: Readonly<Record<JoinOrigin, { word: string; title: string }>> = {
  declared: { word: "declared", title: "Declared as a foreign key in the database." },
  data: { word: "found in the data", title: "Found in the data by values and names." },
  model: { word: "suggested by a model", title: "Suggested by a model and checked against the data." },
  human: { word: "written by a person", title: "Written by a person." },
};

/** Incoming and outgoing joins of a table, with confidence and evidence. */
export function JoinList({ table }: { table: Table }) {
  const { connection, joins, joined_from } = table;
  return (
    <section aria-labelledby="joins" className="mt-6">
      <h3 id="joins" className="mb-1.5 text-sm font-medium text-ink-soft">
        Joins <span className="text-ink-faint">{joins.length + joined_from.length}</span>
      </h3>
      {joins.length + joined_from.length === 0 ? (
        <p className="text-sm text-ink-faint">No joins known.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {joins.map((join, at) => (
            <Row
              key={`to-${at}`}
              join={join}
              arrow={<LabelledIcon icon={ArrowRight} words="references" className="size-3.5 shrink-0 text-ink-faint" />}
              connection={connection}
              other={join.to}
            >
              {join.when && (
                <p className="font-mono text-xs text-ink-soft">
                  only where {join.when.column} = {JSON.stringify(join.when.equals)}
                </p>
              )}
              {join.why !== undefined && <p className="text-sm text-ink-soft">{join.why}</p>}
            </Row>
          ))}
          {joined_from.map((join, at) => (
            <Row
              key={`from-${at}`}
              join={join}
              isReversed
              arrow={
                <LabelledIcon icon={ArrowLeft} words="is referenced by" className="size-3.5 shrink-0 text-ink-faint" />
              }
              connection={connection}
              other={join.from}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({
  join,
  other,
  connection,
  arrow,
  isReversed = false,
  children,
}: {
  join: Pick<Join, "columns" | "to_columns" | "cardinality" | "origin" | "confidence">;
  other: string;
  connection: string;
  arrow: ReactNode;
  isReversed?: boolean;
  children?: ReactNode;
}) {
  const [own, theirs] = isReversed ? [join.to_columns, join.columns] : [join.columns, join.to_columns];
  return (
    <li className="px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-mono text-xs">{own.join(", ")}</span>
        {arrow}
        <ContextLink
          path={`tables/${connection}/${other}`}
          className="font-mono text-xs text-accent hover:underline pointer-coarse:py-2"
        >
          {other}
        </ContextLink>
        <span className="font-mono text-xs text-ink-faint">({theirs.join(", ")})</span>
        <span className="ml-auto flex items-center gap-2">
          <span className="text-xs text-ink-faint">{join.cardinality}</span>
          <Badge title={ORIGINS[join.origin].title}>{ORIGINS[join.origin].word}</Badge>
          <Confidence value={join.confidence} />
        </span>
      </div>
      {children}
    </li>
  );
}
