import type { SqlAnswer } from "@tandem/protocol";
import { Button } from "../../ui/button.tsx";

type Verdict = NonNullable<SqlAnswer["verdict"]>;

const TITLES: Record<Exclude<Verdict["verdict"], "proven" | "not_judged">, string> = {
  deviates: "Differs from a metric",
  lossy: "Rows are dropped",
  can_inflate: "Numbers can be too large",
  unknown_join: "Unknown join",
  wrong_grain: "Rows are mixed",
  inflated: "Numbers are too large",
};

/** Warns of numbers that a join makes wrong. Sound and unjudged statements have one quiet line. */
export function VerdictNote({ verdict, onUse }: { verdict: Verdict; onUse: (sql: string) => void }) {
  if (verdict.verdict === "proven") {
    return <p className="text-sm text-ink-soft">Checked: no aggregate counts a row twice.</p>;
  }
  if (verdict.verdict === "not_judged") {
    return <p className="text-sm text-ink-soft">Not checked against the catalogue. {verdict.reason}</p>;
  }
  return (
    <div className="rounded-md bg-wait-soft px-3 py-2 text-sm text-ink">
      <p className="font-medium">{TITLES[verdict.verdict]}</p>
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

function MetricHint({ query: { metrics, by } }: { query: NonNullable<Verdict["instead"]> }) {
  const groups = by.length > 0 ? ` by ${by.join(", ")}` : "";
  return (
    <p className="mt-2">
      A metric measures this:{" "}
      <span className="font-mono text-xs">
        {metrics.join(", ")}
        {groups}
      </span>
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
