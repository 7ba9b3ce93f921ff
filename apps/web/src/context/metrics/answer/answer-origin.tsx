import type { MetricAnswer } from "@tandem/protocol";
import { SquareTerminal } from "lucide-react";
import { Code } from "../../../text/code.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { ContextLink, linkClass } from "../../context-link.tsx";
import { CopyText } from "./copy-text.tsx";
import { metricPath } from "../metric-api.ts";

/** How an answer is computed: the rows that each measure counts, definitions with versions, and the SQL. */
export function AnswerOrigin({ answer }: { answer: Omit<MetricAnswer, "rows" | "truncated"> }) {
  const { plan, definitions, sql, connection } = answer;
  return (
    <div className="space-y-5">
      <section aria-label="Plan">
        <h2 className="mb-1 text-sm font-medium text-ink-soft">Plan</h2>
        <ul className="list-inside list-disc text-sm">
          {plan.map((sentence) => (
            <li key={sentence} className="wrap-anywhere">
              {sentence}
            </li>
          ))}
        </ul>
      </section>
      <section aria-label="Definitions">
        <h2 className="mb-1 text-sm font-medium text-ink-soft">Definitions</h2>
        <ul className="space-y-0.5 text-sm">
          {definitions.map(({ metric, path, version }) => (
            <li key={metric} className="flex min-h-7 flex-wrap items-center gap-x-2">
              <ContextLink path={metricPath({ connection, name: metric })} className={linkClass}>
                {metric}
              </ContextLink>
              <span className="font-mono text-xs text-ink-faint wrap-anywhere">
                {path} at {version}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-label="SQL">
        <div className="mb-1 flex items-center gap-2">
          <h2 className="text-sm font-medium text-ink-soft">SQL</h2>
          <span className="ml-auto flex gap-1">
            <CopyText label="Copy SQL" text={() => sql} />
            <ContextLink path="sql" search={{ connection, q: sql }} className={buttonClass("quiet", "small")}>
              <SquareTerminal aria-hidden className="size-3.5" /> Open in SQL
            </ContextLink>
          </span>
        </div>
        <Code text={sql} language="sql" />
      </section>
    </div>
  );
}
