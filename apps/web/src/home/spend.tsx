import type { BudgetGauge } from "@tandem/protocol";
import { useMemo } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { useAgents } from "../api/lists.ts";
import { isDemo, money } from "../text/format.ts";
import { Problem } from "../ui/problem.tsx";
import { folderName } from "../text/path-labels.ts";
import { type Spend as Figures, spendFigures } from "./spend-figures.ts";

const MINUTE_MS = 60_000;
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

/** Spending today and in the last thirty days, by agent and folder. */
export function Spend() {
  const usage = useServerQuery("usage.list", {}, { refetchInterval: MINUTE_MS });
  const budgets = useServerQuery("budgets.list", {}, { refetchInterval: MINUTE_MS });
  const agents = useAgents();
  const figures = useMemo(
    () => usage.data && spendFigures(usage.data.data, new Date(usage.dataUpdatedAt)),
    [usage.data, usage.dataUpdatedAt],
  );
  const gauges = budgets.data?.data.filter(({ unit }) => unit === "usd") ?? [];
  const today = gauges.find(({ scope }) => scope === "day");
  const nameOf = (id: string): string => agents.data?.find((agent) => agent.id === id)?.name ?? id;
  return (
    <section aria-labelledby="spend" className="rounded-lg border border-line bg-surface p-3">
      <h2 id="spend" className="text-sm font-medium text-ink-soft">
        Spent <span className="font-normal text-ink-faint">at list prices</span>
      </h2>
      {gauges.some(isDemo) && <p className="mt-0.5 text-xs text-ink-faint">Demo: nothing is billed.</p>}
      <Problem error={usage.error} onRetry={() => void usage.refetch()} className="mt-2" />
      {figures && (
        <>
          <div className="mt-1 flex items-start gap-6">
            <Figure label="Today" usd={figures.today} note={today && noteOf(today)} />
            <Figure label="30 days" usd={figures.total} />
          </div>
          <Bars days={figures.days} />
          <Shares title="By agent, 30 days" shares={figures.byAgent.map(({ agent, usd }) => [nameOf(agent), usd])} />
          <Shares
            title="By project, total"
            shares={gauges
              .filter(({ scope }) => scope === "project")
              .map(({ of, spent }): [string, number] => [folderName(of), spent])}
          />
        </>
      )}
    </section>
  );
}

const noteOf = ({ limit, reserved }: BudgetGauge): string | undefined =>
  [limit !== null && `of ${money(limit)}`, reserved > 0 && `${money(reserved)} reserved`].filter(Boolean).join(", ") ||
  undefined;

function Figure({ label, usd, note }: { label: string; usd: number; note?: string | undefined }) {
  return (
    <div>
      <p className="text-xs text-ink-faint">{label}</p>
      <p className="text-lg leading-6 font-semibold tabular-nums">{money(usd)}</p>
      {note !== undefined && <p className="text-xs text-ink-faint">{note}</p>}
    </div>
  );
}

/** A bar chart without a chart library: thirty numbers, one bar per day. */
function Bars({ days }: Pick<Figures, "days">) {
  const most = Math.max(...days.map(({ usd }) => usd));
  const words = `Spent by day; peak ${money(most)}.`;
  return (
    <figure className="mt-3" aria-label={words}>
      <div className="flex h-14 items-end gap-px border-b border-line">
        {days.map(({ day: name, usd }) => (
          <span
            key={name}
            title={`${day.format(new Date(name))}: ${money(usd)}`}
            className="flex h-full flex-1 items-end"
          >
            <span
              className={`w-full rounded-t-[2px] ${usd > 0 ? "bg-accent" : "bg-line"}`}
              style={{ height: usd > 0 ? `${Math.max(4, (usd / most) * 100)}%` : "1px" }}
            />
          </span>
        ))}
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-xs text-ink-faint">
        <span>{day.format(new Date(days[0]?.day ?? 0))}</span>
        <span>{day.format(new Date(days.at(-1)?.day ?? 0))}</span>
      </div>
    </figure>
  );
}

const MAX_SHARES = 5;

function Shares({ title, shares }: { title: string; shares: readonly (readonly [name: string, usd: number])[] }) {
  const spent = shares.filter(([, usd]) => usd > 0);
  const most = Math.max(...spent.map(([, usd]) => usd));
  if (spent.length === 0) return null;
  return (
    <>
      <h3 className="mt-3 mb-1 text-xs text-ink-faint">{title}</h3>
      <ul className="space-y-1">
        {spent.slice(0, MAX_SHARES).map(([name, usd], index) => (
          // The index is the key, because two agents or folders can have the same name.
          <li key={index} className="text-sm">
            <div className="flex items-baseline justify-between gap-2">
              <span className="truncate">{name}</span>
              <span className="tabular-nums text-ink-soft">{money(usd)}</span>
            </div>
            <div aria-hidden className="h-1 rounded-full bg-raised forced-color-adjust-none">
              <div className="h-1 rounded-full bg-accent/70" style={{ width: `${(usd / most) * 100}%` }} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
