import type { SqlAnswer } from "@tandem/protocol";
import { TriangleAlert } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { ContextLink, linkClass } from "../context-link.tsx";
import { questionSearch } from "../metrics/query/metric-question.ts";

type Verdict = NonNullable<SqlAnswer["verdict"]>;

const TITLES: Record<Exclude<Verdict["verdict"], "proven" | "not_judged">, string> = {
  deviates: "Differs from a metric",
  lossy: "Rows are dropped",
  can_inflate: "Numbers can be too large",
  unknown_join: "Unknown join",
  wrong_grain: "Rows are mixed",
  inflated: "Numbers are too large",
};

/** Warns of numbers that a join makes wrong: in red if they are, in yellow if they can be. Sound and unjudged statements have one quiet line. */
export function VerdictNote({ verdict, onUse }: { verdict: Verdict; onUse: (sql: string) => void }) {
  if (verdict.verdict === "proven") {
    return <p className="text-sm text-ink-soft">Checked: no aggregate counts a row twice.</p>;
  }
  if (verdict.verdict === "not_judged") {
    return <p className="text-sm text-ink-soft">Not checked against the catalogue. {verdict.reason}</p>;
  }
  const isWrong = verdict.verdict === "inflated" || verdict.verdict === "wrong_grain";
  return (
    <div
      role="note"
      aria-label="Verdict"
      className={`rounded-md px-3 py-2 text-sm text-ink ${isWrong ? "bg-bad-soft" : "bg-wait-soft"}`}
    >
      <p className={`flex items-center gap-2 font-medium ${isWrong ? "text-bad" : "text-wait"}`}>
        <TriangleAlert aria-hidden className="size-4 shrink-0" />
        {TITLES[verdict.verdict]}
      </p>
      <ul className="mt-1 space-y-1">
        {verdict.parts.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
      {verdict.instead && <MetricHint query={verdict.instead} />}
      {verdict.rewrite !== undefined && <Rewrite sql={verdict.rewrite} onUse={onUse} />}
    </div>
  );
}

/** Leads to the query of the metric, where it can be run and changed. */
function MetricHint({ query }: { query: NonNullable<Verdict["instead"]> }) {
  const { metrics, by } = query;
  const words = `${metrics.join(", ")}${by.length > 0 ? ` by ${by.join(", ")}` : ""}`;
  return (
    <p className="mt-2">
      A metric measures this:{" "}
      <ContextLink
        path="metrics/query"
        search={questionSearch({ connection: undefined, ...query })}
        className={linkClass}
      >
        {words}
      </ContextLink>
    </p>
  );
}

function Rewrite({ sql, onUse }: { sql: string; onUse: (sql: string) => void }) {
  return (
    <details className="mt-2">
      <summary className="w-fit cursor-pointer rounded font-medium">A statement that counts each row once</summary>
      <pre
        tabIndex={0}
        aria-label="Rewritten statement"
        className="my-2 max-h-60 overflow-auto rounded-md border border-line bg-surface px-3 py-2 font-mono text-xs"
      >
        {sql}
      </pre>
      <Button size="small" onClick={() => onUse(sql)}>
        Put it into the editor
      </Button>
    </details>
  );
}
