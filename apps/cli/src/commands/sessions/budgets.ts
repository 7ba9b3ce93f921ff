import {
  BUDGET_UNITS,
  limits as limitsSchema,
  parseSessionLimits,
  SESSION_METADATA,
  TandemError,
  type BudgetGauge,
  type BudgetUnit,
  type Limits,
  type SessionUpdateParams,
} from "@tandem/protocol";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { findAgent } from "@tandem/tandem/engine";
import { findSession, SESSION_ARGUMENT } from "../../sessions/find-session.ts";
import { clientFor, openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, write, writeJson, type Style } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const limits = (self: Command) =>
    self
      .option("--usd <dollars>", "spending limit in dollars at list price, such as 2.50")
      .option("--tokens <number>", "token limit: input, output and cached tokens")
      .option("--seconds <number>", "limit of active time in seconds, without waiting for people")
      .option("--turns <number>", "maximum number of turns")
      .option("--requests <number>", "maximum number of model requests")
      .addOption(json());

  examples(
    sub("list", "Show spending, reservations and limits.")
      .argument(
        "[session]",
        "only this session, by id; `last` is the newest (default: the day, the project and its agents)",
      )
      .addOption(json())
      .action(runner(show)),
    "tandem budgets list",
    "tandem budgets list last",
    "tandem budgets list --json | jq '.budgets[] | select(.unit == \"usd\")'",
  );
  examples(
    limits(
      sub("set", "Limit all sessions of a day, the project or an agent together.")
        .addArgument(command.createArgument("<scope>", "scope of the limit").choices(["day", "project", "agent"]))
        .argument("[of]", "agent id or name, or a day (default: each agent, this project, every day)"),
    )
      .addOption(new Option("--none", "remove the limit, also that of the config"))
      .action(runner(set)),
    "tandem budgets set day --usd 20",
    "tandem budgets set agent reviewer --usd 5 --requests 500",
    "tandem budgets set day --none",
  );
  examples(
    limits(
      sub("raise", "Set the limits of one session. Messages that waited for them continue.").argument(
        "[session]",
        SESSION_ARGUMENT,
      ),
    ).action(runner(raise)),
    "tandem budgets raise --usd 5",
  );
}

const COMMAND = "tandem budgets";
const open = clientFor(COMMAND);
const BAR = 20;

export type LimitFlags = Partial<Record<BudgetUnit, string>> & { none?: boolean };

export async function show(invocation: Invocation, id: string | undefined): Promise<void> {
  await using client = await open(invocation);
  const session = id === undefined ? undefined : await findSession(client, id, invocation);
  await print(invocation, client, session ? await client.budgets.session(session.id) : await client.budgets.list());
}

export async function set(
  invocation: Invocation,
  scope: "day" | "project" | "agent",
  of: string | undefined,
  flags: LimitFlags,
): Promise<void> {
  const limits = readLimits(flags);
  if (Object.keys(limits).length === 0 && !flags.none) throw nothingGiven("--none for no limit");
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: COMMAND });
  const named = scope === "agent" && of !== undefined ? (await findAgent(client, of)).id : of;
  await print(invocation, client, await client.budgets.set(scope, named, limits, localActor()));
}

/** Sets session limits, which override the config. Raises the session's own lower limits and `budget` as well. */
export async function raise(invocation: Invocation, id: string | undefined, flags: LimitFlags): Promise<void> {
  const limits = readLimits(flags);
  if (Object.keys(limits).length === 0) throw nothingGiven("--usd 5");
  await using client = await open(invocation);
  const session = await findSession(client, id, invocation);
  const known = parseSessionLimits(session.metadata[SESSION_METADATA.limits] ?? "{}");
  const own = { ...known, session: { ...known?.session, ...limits } };
  await client.budgets.set("session", session.id, limits, localActor());
  const change: SessionUpdateParams = { metadata: { [SESSION_METADATA.limits]: JSON.stringify(own) } };
  if (session.budget && limits.usd !== undefined) {
    const amount = String(Math.ceil(limits.usd * 100));
    change.budget = { type: "limit", max_list_cost: { amount, currency: "USD" } };
  }
  await client.sessions.update(session.id, change);
  await print(invocation, client, await client.budgets.session(session.id));
}

export function readLimits(flags: LimitFlags, flagOf = (unit: string) => `--${unit}`): Limits {
  const given = BUDGET_UNITS.flatMap((unit) => (flags[unit] === undefined ? [] : [[unit, Number(flags[unit])]]));
  const parsed = limitsSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const unit = String(parsed.error.issues[0]?.path[0]);
  throw new TandemError("usage", `${flagOf(unit)} is ${JSON.stringify(flags[unit as BudgetUnit])}.`, {
    fix: `Give a number above 0${unit === "usd" || unit === "seconds" ? ", such as 2.5" : ", without a fraction"}.`,
  });
}

const nothingGiven = (example: string): TandemError =>
  new TandemError("usage", "No limit was given.", {
    fix: `Give at least one of ${BUDGET_UNITS.map((unit) => `--${unit}`).join(", ")}, or ${example}.`,
  });

async function print(invocation: Invocation, client: SessionsClient, gauges: readonly BudgetGauge[]): Promise<void> {
  const { stdout, json } = invocation;
  const halt = await client.killSwitch.state();
  if (json) return writeJson(stdout, { budgets: gauges, stopped: halt ?? null });
  const style = styleFor(stdout);
  const { dim, warn } = style;
  const lines: string[] = [];
  if (halt) lines.push(warn(`Everything was stopped by ${printable(halt.by)}. Undo: tandem stop --undo`), "");
  for (const group of Map.groupBy(gauges, ({ scope, of }) => `${scope} ${of}`).values()) {
    const { scope, of } = group[0]!;
    const called = scope === "agent" ? await nameOf(client, of) : "";
    if (lines.length > 0 && lines.at(-1) !== "") lines.push("");
    lines.push(
      style.bold(printable(`${scope} ${of}`)) + dim(printable(called)),
      ...table(group.map((gauge) => row(gauge, style))).map((line) => `  ${line}`),
    );
  }
  const payer = gauges.find((gauge) => gauge.payer !== null)?.payer;
  if (payer) lines.push("", dim(`Billed to ${printable(payer)}, at list price`));
  if (gauges.length === 0) lines.push(dim("No spending today, and no limits."));
  await write(stdout, `${lines.join("\n")}\n`);
}

/** The agent may exist only in another database. */
const nameOf = (client: SessionsClient, id: string): Promise<string> =>
  client.agents.get(id).then(
    ({ name }) => `  ${name}`,
    () => "",
  );

/** `money   ████████░░░░░░  $1.20 of $5.00  $0.06 reserved`. */
function row({ unit, spent, reserved, limit }: BudgetGauge, { dim, good, warn, bad }: Style): string[] {
  const held = reserved > 0 ? dim(`${amount(unit, reserved)} reserved`) : "";
  if (limit === null) return [dim(NAMES[unit]), "", `${amount(unit, spent)}${dim("  no limit")}`, held];
  const share = Math.min(1, spent / limit);
  const full = Math.round(share * BAR);
  const ahead = Math.min(BAR - full, Math.round((reserved / limit) * BAR));
  const paint = share >= 1 ? bad : share > 0.8 ? warn : good;
  const bar = paint("█".repeat(full)) + dim("▒".repeat(ahead)) + dim("░".repeat(BAR - full - ahead));
  return [dim(NAMES[unit]), bar, `${amount(unit, spent)} of ${amount(unit, limit)}`, held];
}

const NAMES: Record<BudgetUnit, string> = {
  usd: "money",
  tokens: "tokens",
  seconds: "time",
  turns: "turns",
  requests: "requests",
};

function amount(unit: BudgetUnit, value: number): string {
  if (unit === "usd") return `$${value > 0 && value < 0.1 ? value.toFixed(4) : value.toFixed(2)}`;
  if (unit === "seconds") return value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`;
  return value.toLocaleString("en-US");
}
