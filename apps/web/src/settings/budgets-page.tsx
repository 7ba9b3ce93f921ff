import { type BudgetGauge, type BudgetUnit, BUDGET_UNITS, type BodyInput } from "@tandem/protocol";
import { useServerQuery } from "../api/use-server-query.ts";
import { api } from "../api/client.ts";
import { useAgents } from "../api/lists.ts";
import { folderName } from "../text/path-labels.ts";
import { count, isDemo, duration, money } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { PageHead, Panel } from "./panel.tsx";
import { useChange } from "../api/use-change.ts";
import { AgentField } from "./agent-field.tsx";
import { TextField } from "../ui/field.tsx";
import { useForm } from "../ui/use-form.ts";
import { SelectField } from "../ui/select.tsx";

const KEY = ["/v1/budgets"];
const amount = (unit: BudgetUnit, value: number): string =>
  unit === "usd" ? money(value) : unit === "seconds" ? duration(value * 1_000) : count(value);
/** Singular or plural of a unit. */
const unitLabel = (unit: BudgetUnit, value: number): string =>
  `${count(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
const UNIT_WORDS: Readonly<Record<BudgetUnit, string>> = {
  usd: "Cost (USD)",
  tokens: "Tokens",
  seconds: "Active time (seconds)",
  turns: "Turns",
  requests: "Model requests",
};

/** Limits, current spending, and amounts reserved for running calls. */
export default function BudgetsPage() {
  const list = useServerQuery("budgets.list", {}, { refetchInterval: 10_000 });
  const agents = useAgents();
  const nameOf = ({ scope, of }: Pick<BudgetGauge, "scope" | "of">): string => {
    if (scope === "agent") return agents.data?.find(({ id }) => id === of)?.name ?? of;
    return scope === "day" ? "Today" : folderName(of);
  };
  return (
    <>
      <PageHead title="Budgets">
        Each model request reserves its maximum cost first. A request that does not fit the budget is not sent.
      </PageHead>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-4" />
      {list.data?.data.length === 0 && <Empty title="No limits and no spend yet">Set a limit below.</Empty>}
      {(["day", "project", "agent"] as const).map((scope) => {
        const own = list.data?.data.filter((gauge) => gauge.scope === scope) ?? [];
        return own.length === 0 ? null : (
          <Panel key={scope} title={{ day: "Daily", project: "Projects", agent: "Agents" }[scope]}>
            <ul className="divide-y divide-line">
              {[...Map.groupBy(own, ({ of }) => of)].map(([of, gauges]) => (
                <li key={of} className="px-3 py-2" title={scope === "project" ? of : undefined}>
                  <Gauges gauges={gauges} name={nameOf({ scope, of })} />
                </li>
              ))}
            </ul>
          </Panel>
        );
      })}
      <SetBudget gauges={list.data?.data ?? []} />
    </>
  );
}

/** Shows money and limited units in full; other units are summarized in one line. */
function Gauges({ gauges, name }: { gauges: readonly BudgetGauge[]; name: string }) {
  const shown = gauges.filter(({ unit, limit }) => unit === "usd" || limit !== null);
  const counted = gauges.filter((gauge) => !shown.includes(gauge) && gauge.spent > 0);
  return (
    <>
      {shown.map((gauge) => (
        <Gauge key={gauge.unit} gauge={gauge} name={name} />
      ))}
      {counted.length > 0 && (
        <p className="mt-0.5 text-sm text-ink-faint">
          {shown.length === 0 && `${name}: `}
          {counted
            .map(({ unit, spent }) => (unit === "seconds" ? `${amount(unit, spent)} active` : unitLabel(unit, spent)))
            .join(", ")}
        </p>
      )}
    </>
  );
}

function Gauge({ gauge: { unit, spent, reserved, limit, payer }, name }: { gauge: BudgetGauge; name: string }) {
  const share = (value: number): string => `${Math.min(100, limit === null ? 0 : (value / limit) * 100)}%`;
  const isFull = limit !== null && spent + reserved >= limit;
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 font-medium break-all">{name}</span>
        <span className="text-xs text-ink-faint">
          {payer !== null && (isDemo({ payer }) ? "demo: not billed" : `billed to ${payer.replaceAll("_", " ")}`)}
        </span>
        <span className="ml-auto tabular-nums">
          {unit === "usd" || unit === "seconds" ? amount(unit, spent) : unitLabel(unit, spent)}
          <span className="text-ink-faint">{limit === null ? " spent, no limit" : ` of ${amount(unit, limit)}`}</span>
          {reserved > 0 && <span className="text-wait"> + {amount(unit, reserved)} reserved</span>}
        </span>
      </div>
      {limit !== null && (
        <div className="mt-1.5 flex h-1.5 overflow-hidden rounded-full bg-raised forced-color-adjust-none">
          <meter
            className="sr-only"
            aria-label={`${name}, ${UNIT_WORDS[unit]}`}
            max={limit}
            value={Math.min(limit, spent)}
          />
          <span className={isFull ? "bg-bad" : "bg-accent"} style={{ width: share(spent) }} />
          <span className="bg-wait/60" style={{ width: share(reserved) }} />
        </div>
      )}
    </>
  );
}

interface NewLimit {
  scope: BodyInput<"budgets.set">["scope"];
  of: string;
  unit: BudgetUnit;
  value: string;
}

function SetBudget({ gauges }: { gauges: readonly BudgetGauge[] }) {
  const { form, set, field } = useForm<NewLimit>({ scope: "day", of: "", unit: "usd", value: "" });
  const value = Number(form.value.replace(",", "."));
  const isBad = form.value !== "" && !(value > 0);
  const hasLimit = gauges.some(
    ({ scope, of, limit }) => limit !== null && scope === form.scope && (form.of === "" || form.of === of),
  );
  const isTaken = form.value === "" && hasLimit;
  const save = useChange(KEY, () =>
    api.call("budgets.set", {
      body: {
        scope: form.scope,
        ...(form.of !== "" && { of: form.of }),
        limits: form.value === "" ? {} : { [form.unit]: value },
      },
    }),
  );
  return (
    <Panel title="Set a limit" note="Replaces the current limit. Leave the amount empty to remove it.">
      <form
        className="grid items-end gap-3 p-3 sm:grid-cols-2 md:grid-cols-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <SelectField
          label="Period"
          value={form.scope}
          onChange={(scope) => set({ scope, of: "" })}
          options={[
            { value: "day", label: "Each day" },
            { value: "project", label: "Project lifetime" },
            { value: "agent", label: "Agent lifetime" },
          ]}
        />
        {form.scope === "agent" && <AgentField none="All agents" {...field("of")} />}
        <SelectField
          label="Applies to"
          {...field("unit")}
          options={BUDGET_UNITS.map((unit) => ({ value: unit, label: UNIT_WORDS[unit] }))}
        />
        <TextField
          label="Limit"
          problem={isBad ? "Enter a number above 0, or leave it empty." : undefined}
          inputMode="decimal"
          placeholder="No limit"
          {...field("value")}
        />
        <div className="flex items-center gap-3 sm:col-span-full">
          <Button
            type="submit"
            look={isTaken ? "plain" : "primary"}
            disabled={isBad || save.isPending || (form.value === "" && !hasLimit)}
          >
            {isTaken ? "Remove limit" : "Set limit"}
          </Button>
          {save.isSuccess && <output className="text-sm text-good">Saved.</output>}
        </div>
        <Problem error={save.error} className="sm:col-span-full" />
      </form>
    </Panel>
  );
}
