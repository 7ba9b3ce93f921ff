import type { BudgetGauge, Message } from "@tandem/protocol";
import { Fragment, useMemo } from "react";
import { useModels } from "../../api/lists.ts";
import { isPainted } from "../../live/first-paint.ts";
import { useLive, useLivePart } from "../../live/live-value.ts";
import type { LiveLog } from "../../live/live-log.ts";
import { count, isDemo, duration, money, share } from "../../text/format.ts";
import { Popover } from "../../ui/popover.tsx";
import { contextBreakdown } from "./context-breakdown.ts";
import { Chart } from "../../chart/chart.tsx";
import { contextUsage, type ContextUsage, lastMeasured, lastModel } from "./context-usage.ts";
import { cacheShare } from "../transcript/turn/turn-totals.ts";
import { useBudget } from "../use-session-data.ts";

const TRIGGER =
  "flex min-h-7 items-center gap-1.5 rounded-md px-1.5 text-xs text-ink-soft tabular-nums hover:bg-raised hover:text-ink max-md:min-h-10";

/** Context window usage and cost. */
export function UsageGauges({ session, log }: { session: string; log: LiveLog }) {
  if (!useLive(isPainted)) return null;
  return (
    <div className="flex shrink-0 items-center">
      <ContextGauge log={log} />
      <MoneyGauge session={session} />
    </div>
  );
}

function ContextGauge({ log }: { log: LiveLog }) {
  const { data: models } = useModels();
  const model = useLivePart(log.messages, lastModel);
  const use = contextUsage(useLivePart(log.messages, lastMeasured), model, models);
  if (!use) return null;
  const part = use.window && Math.min(1, use.tokens / use.window);
  if (part === undefined) {
    return (
      <Popover
        label="Context"
        trigger={
          <button type="button" className={TRIGGER} aria-label={`Context window: ${count(use.tokens)} tokens`}>
            {count(use.tokens)} tokens
          </button>
        }
      >
        <ContextDetails use={use} log={log} />
      </Popover>
    );
  }
  const look = part > 0.85 ? "text-bad" : part > 0.65 ? "text-wait" : "text-accent";
  return (
    <Popover
      label="Context"
      trigger={
        <button type="button" className={TRIGGER} aria-label={`Context window: ${share(part)} full`}>
          <svg viewBox="0 0 20 20" aria-hidden className={`size-4 -rotate-90 ${look}`}>
            <circle cx="10" cy="10" r="7.5" fill="none" strokeWidth="3.5" className="stroke-line" />
            <circle
              cx="10"
              cy="10"
              r="7.5"
              fill="none"
              strokeWidth="3.5"
              stroke="currentColor"
              pathLength="100"
              strokeDasharray={`${Math.max(2, part * 100)} 100`}
            />
          </svg>
          {share(part)}
        </button>
      }
    >
      <ContextDetails use={use} log={log} />
    </Popover>
  );
}

const HELD = [
  ["rest", "Instructions and tools", "bg-ink-faint"],
  ["said", "User messages", "bg-good"],
  ["answered", "Agent messages", "bg-accent"],
  ["tools", "Tool calls and results", "bg-wait"],
] as const;

function ContextDetails({ use: { tokens, window, last, model }, log }: { use: ContextUsage; log: LiveLog }) {
  const held = contextBreakdown(log.messages.current, tokens);
  const hasEarlier = useLive(log.hasEarlier) === true;
  const messages = useLive(log.messages);
  const history = useMemo(() => contextHistory(messages), [messages]);
  const requestLabels = useMemo(() => history.map((_, index) => String(index + 1)), [history]);
  const historySeries = useMemo(() => [{ name: "Tokens", values: history }], [history]);
  const cached =
    last &&
    cacheShare({
      inputTokens: last.input_tokens,
      cacheReadTokens: last.cache_read_input_tokens,
      cacheWriteTokens: last.cache_creation_input_tokens,
    });
  return (
    <>
      <p className="font-medium">
        {count(tokens)} {window === undefined ? "" : `of ${count(window)} `}tokens
      </p>
      {model !== null && <p className="text-xs text-ink-faint">{model}</p>}
      <Bar parts={HELD.map(([key, , look]) => [held[key] / (window ?? tokens), look])} />
      <dl className="mt-2 grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 tabular-nums">
        {HELD.map(([key, label, look]) => (
          <Fragment key={key}>
            <dt className="flex items-center gap-2 text-ink-soft">
              <span aria-hidden className={`size-2 rounded-sm forced-color-adjust-none ${look}`} />
              {key === "rest" && hasEarlier ? "Instructions, tools and earlier messages" : label}
            </dt>
            <dd className="text-right text-ink-soft">≈ {count(held[key])}</dd>
          </Fragment>
        ))}
      </dl>
      {history.length > 2 && (
        <div className="mt-3 border-t border-line pt-2">
          <Chart
            title={hasEarlier ? "Context over the loaded part of the session" : "Context over the session"}
            xLabel="Request"
            labels={requestLabels}
            series={historySeries}
            kind="line"
            height={110}
            format={count}
            max={window}
          />
        </div>
      )}
      {last && <p className="mt-3 border-t border-line pt-2 font-medium">Last request</p>}
      {last && (
        <dl className="mt-1 grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 text-ink-soft tabular-nums [&>dd]:text-right">
          <dt>Cache read</dt>
          <dd>{count(last.cache_read_input_tokens)}</dd>
          <dt>Cache write</dt>
          <dd>{count(last.cache_creation_input_tokens)}</dd>
          <dt>Uncached input</dt>
          <dd>{count(last.input_tokens)}</dd>
          <dt>Output</dt>
          <dd>{count(last.output_tokens)}</dd>
        </dl>
      )}
      {cached !== undefined && (
        <p className="mt-2 text-xs text-ink-faint">
          {share(cached)} of the last request came from the cache.
          {cached < 0.5 && " The cache restarts after a few minutes of inactivity, or when the model or tools change."}
        </p>
      )}
    </>
  );
}

const SCOPES = {
  turn: "This turn",
  session: "This session",
  agent: "Agent",
  project: "Project",
  day: "Today",
} as const;

function MoneyGauge({ session }: { session: string }) {
  const gauges = useBudget(session);
  const own = gauges.find(({ scope, unit }) => scope === "session" && unit === "usd");
  if (!own) return null;
  const isNear = gauges.some(({ spent, reserved, limit }) => limit !== null && spent + reserved > limit * 0.9);
  return (
    <Popover
      label="Cost"
      trigger={
        <button type="button" className={`${TRIGGER} ${isNear ? "text-bad" : ""}`}>
          {money(own.spent)}
          {own.limit !== null && <span className="text-ink-faint max-md:hidden">of {money(own.limit)}</span>}
          {isDemo(own) && <span className="text-ink-faint max-md:hidden">demo</span>}
          <span className="sr-only">spent</span>
        </button>
      }
    >
      <ul className="space-y-3">
        {gauges
          .filter((gauge) => gauge.limit !== null || gauge === own)
          .map((gauge) => (
            <Gauge key={`${gauge.scope}${gauge.of}${gauge.unit}`} gauge={gauge} />
          ))}
      </ul>
      {own.payer !== null && (
        <p className="mt-3 border-t border-line pt-2 text-xs text-ink-faint">
          {isDemo(own) ? "Demo: scripted replies, nothing is billed." : `Billed to ${own.payer.replaceAll("_", " ")}`}
        </p>
      )}
    </Popover>
  );
}

function Gauge({ gauge: { scope, unit, spent, reserved, limit } }: { gauge: BudgetGauge }) {
  const shown = (value: number): string =>
    unit === "usd" ? money(value) : unit === "seconds" ? duration(value * 1_000) : `${count(value)} ${unit}`;
  return (
    <li>
      <p className="flex justify-between gap-3">
        <span className="text-ink-soft">{SCOPES[scope]}</span>
        <span className="tabular-nums">
          {shown(spent)}
          {limit !== null && <span className="text-ink-faint"> of {shown(limit)}</span>}
        </span>
      </p>
      {limit !== null && (
        <Bar
          parts={[
            [spent / limit, "bg-accent"],
            [reserved / limit, "bg-accent/40"],
          ]}
        />
      )}
      {reserved > 0 && <p className="mt-0.5 text-xs text-ink-faint">{shown(reserved)} reserved for running calls</p>}
    </li>
  );
}

function Bar({ parts }: { parts: readonly (readonly [share: number, look: string])[] }) {
  return (
    <div aria-hidden className="mt-1 flex h-1.5 overflow-hidden rounded-full bg-raised forced-color-adjust-none">
      {parts.map(([part, look], index) => (
        <span key={index} className={look} style={{ width: `${Math.min(1, part) * 100}%` }} />
      ))}
    </div>
  );
}

/** Tokens in the context window after each request and compaction of the main agent, in order. */
function contextHistory(messages: readonly Message[]): number[] {
  return messages
    .filter(({ thread }) => thread === null)
    .flatMap(({ parts }) =>
      parts.flatMap((part) => {
        if (part.type === "compaction") return part.tokens_after ?? [];
        if (part.type !== "step" || part.state !== "completed" || !part.usage) return [];
        const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = part.usage;
        return input_tokens + cache_read_input_tokens + cache_creation_input_tokens + output_tokens;
      }),
    );
}
