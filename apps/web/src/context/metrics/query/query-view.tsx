import type { MetricAnswer } from "@tandem/protocol";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Play, TriangleAlert } from "lucide-react";
import { useRef, useState } from "react";
import { duration } from "../../../text/format.ts";
import { Button } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { useShortcuts } from "../../../ui/keyboard/shortcuts.ts";
import { Problem } from "../../../ui/problem.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { ContextLink } from "../../context-link.tsx";
import { AnswerChart } from "../answer/answer-chart.tsx";
import { AnswerOrigin } from "../answer/answer-origin.tsx";
import { AnswerTable } from "../answer/answer-table.tsx";
import { CopyText } from "../answer/copy-text.tsx";
import { useAnswer, useDefinitions, useFields, useMetrics } from "../metric-api.ts";
import { type Question, questionBody, questionSearch, readQuestion } from "./metric-question.ts";
import { QueryPane } from "./query-pane.tsx";
import { ApiError } from "../../../api/client.ts";
import { Refusal } from "../refusal.tsx";

type View = "chart" | "table";

/**
 * Builds a query of metrics by clicking. The query is in the address: a link opens it and runs it. Changes are compiled at
 * once, so that a refusal is seen early; the database is asked when the user runs the query.
 */
export function QueryView() {
  const search = useSearch({ from: "/context/$" });
  const navigate = useNavigate();
  const question = readQuestion(search);
  const view: View = search.view === "table" ? "table" : "chart";
  const [asked, setAsked] = useState(question);
  const metrics = useMetrics();
  const fields = useFields(question);
  const definitions = useDefinitions(question);
  const isAsked = JSON.stringify(questionBody(asked)) === JSON.stringify(questionBody(question));
  const hasMetrics = question.metrics.length > 0;
  const compiled = useAnswer(hasMetrics && !isAsked ? question : undefined, { isRun: false });
  const answer = useAnswer(asked.metrics.length > 0 ? asked : undefined, { isRun: true });
  const open = (next: Question, shown: View): void =>
    void navigate({
      to: "/context/$",
      params: { _splat: "metrics/query" },
      replace: true,
      search: { ...questionSearch(next), ...(shown !== "chart" && { view: shown }) },
    });
  const result = useRef<HTMLDivElement>(null);
  const run = (): void => {
    if (!hasMetrics) return;
    // On a narrow screen the result is below the query.
    if (matchMedia("(width < 64rem)").matches) result.current?.scrollIntoView({ block: "start" });
    if (isAsked) void answer.refetch();
    else setAsked(question);
  };
  useShortcuts("Metrics", { "mod+enter": ["Run the query", run] });
  const shown = isAsked ? answer : compiled;
  const error = shown.error ?? fields.error;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto grid max-w-7xl gap-x-8 gap-y-6 px-4 py-4 lg:grid-cols-[19rem_minmax(0,1fr)]">
        <div>
          <div className="mb-4 flex items-center gap-2">
            <ContextLink
              path="metrics"
              className="flex items-center gap-1.5 rounded text-sm text-ink-soft hover:text-ink pointer-coarse:min-h-10"
            >
              <ArrowLeft aria-hidden className="size-4" /> Metrics
            </ContextLink>
            <Button
              look="primary"
              size="small"
              className="ml-auto"
              disabled={!hasMetrics}
              keys="mod+enter"
              onClick={run}
            >
              <Play aria-hidden className="size-3.5" /> Run
            </Button>
          </div>
          <Problem error={metrics.error} onRetry={() => void metrics.refetch()} className="mb-3" />
          <QueryPane
            question={question}
            metrics={metrics.data?.data ?? []}
            fields={hasMetrics ? (fields.data?.data ?? []) : []}
            definitions={definitions}
            onChange={(part) => open({ ...question, ...part }, view)}
          />
        </div>
        <div ref={result} className="min-w-0 space-y-4">
          <div className="flex min-h-8 items-center gap-3">
            <p aria-live="polite" className="min-w-0 flex-1 text-sm text-ink-soft">
              {statusOf({
                hasMetrics,
                isAsked,
                isRunning: answer.isFetching,
                answer: answer.data,
                hasError: error !== null,
              })}
            </p>
            {hasMetrics && <CopyText label="Copy link" text={() => location.href} />}
          </div>
          {error && <QueryRefusal error={error} onRetry={() => void shown.refetch()} />}
          {!hasMetrics && (
            <Empty title="Choose a metric">
              Then group it by fields, filter it and run the query. The SQL is compiled from the definitions.
            </Empty>
          )}
          {hasMetrics && !error && (
            <Tabs
              label="Result"
              value={view}
              onChange={(next) => open(question, next)}
              tabs={[
                { name: "chart", label: "Chart" },
                { name: "table", label: "Table", ...(isAsked && answer.data && { count: answer.data.rows.length }) },
              ]}
            />
          )}
          {hasMetrics && !error && (
            <Result view={view} compiled={compiled.data} answer={answer.data} isAsked={isAsked} />
          )}
        </div>
      </div>
    </div>
  );
}

function Result({
  view,
  compiled,
  answer,
  isAsked,
}: {
  view: View;
  compiled: MetricAnswer | undefined;
  answer: MetricAnswer | undefined;
  isAsked: boolean;
}) {
  const current = isAsked ? answer : compiled;
  return (
    <>
      {current && <AnswerWarnings warnings={current.warnings} />}
      {isAsked && answer && (view === "chart" ? <AnswerChart answer={answer} /> : <AnswerTable answer={answer} />)}
      {current && <AnswerOrigin answer={current} />}
    </>
  );
}

function statusOf({
  hasMetrics,
  isAsked,
  isRunning,
  answer,
  hasError,
}: {
  hasMetrics: boolean;
  isAsked: boolean;
  isRunning: boolean;
  answer: MetricAnswer | undefined;
  hasError: boolean;
}): string {
  if (!hasMetrics || hasError) return "";
  if (!isAsked) return "The query has changed. Run it to see the new result.";
  if (isRunning) return "Running …";
  if (!answer) return "";
  const { rows, truncated, elapsed_ms: elapsed } = answer;
  const time = elapsed === undefined ? "" : ` in ${duration(elapsed)}`;
  const count = `${rows.length.toLocaleString()} ${rows.length === 1 ? "row" : "rows"}${time}`;
  return truncated ? `${count}. There are more: raise the limit, or group by fewer fields.` : `${count}.`;
}

/** Warnings of the compiler about the numbers. */
function AnswerWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="space-y-1 rounded-md bg-wait-soft px-3 py-2 text-sm">
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-2">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-wait" />
          <span className="min-w-0 wrap-anywhere">{warning}</span>
        </li>
      ))}
    </ul>
  );
}

/** Titles by the compiler's code. */
const TITLES: Readonly<Record<string, string>> = {
  unsafe: "Refused: the numbers would be wrong",
  ambiguous: "Refused: the query can mean several things",
  unknown_name: "Refused: the query names something that does not exist",
  unsupported: "Refused: this database cannot compute it",
  broken_definition: "Refused: a definition is broken",
  invalid_expression: "Refused: a definition is broken",
};

/** A refused query with its reason and fix; other errors as on every page. */
function QueryRefusal({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) {
    return <Problem error={error} onRetry={onRetry} />;
  }
  const { code, fix, message } = error;
  return (
    <Refusal
      title={TITLES[code ?? ""] ?? "The query was refused"}
      message={withoutFix(message, fix)}
      fix={fix ?? undefined}
    />
  );
}

/** The message of an error ends with its fix. */
const withoutFix = (message: string, fix: string | null): string =>
  fix !== null && message.endsWith(fix) ? message.slice(0, -fix.length).trim() : message;
