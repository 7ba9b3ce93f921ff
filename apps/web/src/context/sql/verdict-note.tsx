import type { SqlAnswer } from "@tandem/protocol";

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
export function VerdictNote({ verdict }: { verdict: Verdict }) {
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
    </div>
  );
}
