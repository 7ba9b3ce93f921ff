import { useMemo, useState } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { useAgents } from "../api/lists.ts";
import { Chart } from "../chart/chart.tsx";
import { money } from "../text/format.ts";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { PageHead, Panel } from "./panel.tsx";
import { usageSeries } from "./usage-series.ts";

const MINUTE_MS = 60_000;
const VIEWS = [
  { name: "agents", label: "By agent" },
  { name: "models", label: "By model" },
] as const;
type View = (typeof VIEWS)[number]["name"];

/** Cost over time, by agent or model. */
export default function UsagePage() {
  const [view, setView] = useState<View>("agents");
  const agents = useAgents();
  const byAgent = useServerQuery("usage.list", {}, { refetchInterval: MINUTE_MS });
  const byModel = useServerQuery("usage.models", {}, { refetchInterval: MINUTE_MS, enabled: view === "models" });
  const shown = view === "agents" ? byAgent : byModel;
  const chart = useMemo(() => {
    const nameOf = (id: string): string => agents.data?.find((agent) => agent.id === id)?.name ?? id;
    const rows =
      view === "agents"
        ? byAgent.data?.data.map(({ day, agent_id, usd }) => ({ day, name: nameOf(agent_id), usd }))
        : byModel.data?.data.map(({ day, model, usd }) => ({ day, name: model, usd }));
    return rows && usageSeries(rows, new Date(byAgent.dataUpdatedAt));
  }, [view, agents.data, byAgent.data, byAgent.dataUpdatedAt, byModel.data]);
  return (
    <>
      <PageHead title="Usage">
        Cost at list prices in the last 30 days, subagents included. A session counts on the day of its last activity.
      </PageHead>
      <div className="mb-3">
        <Tabs label="Group by" tabs={VIEWS} value={view} onChange={setView} />
      </div>
      <Problem error={shown.error} onRetry={() => void shown.refetch()} className="mb-4" />
      {!chart && !shown.error && <Skeleton rows={["h-56"]} />}
      {chart?.total === 0 && <Empty title="No cost yet">Costs appear here after the first model request.</Empty>}
      {chart && chart.total > 0 && (
        <Panel>
          <div className="p-3">
            <Chart
              title={`Cost per day, ${money(chart.total)} in total`}
              xLabel="Day (UTC)"
              labels={chart.labels}
              series={chart.series}
              kind="stacked-bars"
              height={240}
              format={money}
            />
          </div>
        </Panel>
      )}
    </>
  );
}
