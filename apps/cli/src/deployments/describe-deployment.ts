import { describeCron, parseCron, type Deployment, type DeploymentRun } from "@tandem/protocol";
import { usd } from "../human-units.ts";
import { printable, styleFor } from "../terminal.ts";

type Schedule = NonNullable<Deployment["schedule"]>;

/** `every weekday at 09:00 (Europe/Berlin)`. */
export function describeSchedule({ expression, timezone }: Pick<Schedule, "expression" | "timezone">): string {
  const parsed = parseCron(expression);
  return `${parsed.ok ? describeCron(parsed.cron) : expression} (${timezone})`;
}

/** `Mon, 2 Mar 2026, 09:00`, in the schedule's zone. */
export const localTime = (time: string, timezone: string): string =>
  new Date(time).toLocaleString("en-GB", {
    timeZone: timezone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });

export function describeStatus({ archived_at: archived, status, paused_reason: reason }: Deployment): string {
  if (archived !== null) return "archived";
  if (status === "active") return "active";
  return reason?.type === "error" ? `paused: ${reason.error.type}` : "paused";
}

/** `sesn_…`, or why there is none. */
export const describeOutcome = ({ session_id: session, error }: DeploymentRun): string =>
  session ?? printable(error?.message ?? "");

/** Label and value of each field. */
export function deploymentRows(stdout: NodeJS.WriteStream, deployment: Deployment): string[][] {
  const { dim, bold, bad } = styleFor(stdout);
  const { schedule, agent, budget } = deployment;
  const zone = schedule?.timezone ?? "UTC";
  return [
    [dim("deployment"), `${deployment.id}  ${dim(describeStatus(deployment))}`],
    [dim("name"), bold(printable(deployment.name))],
    ...(deployment.description ? [[dim("description"), printable(deployment.description)]] : []),
    [dim("agent"), `${agent.id}  ${dim(`version ${agent.version}`)}`],
    [dim("environment"), deployment.environment_id],
    [dim("schedule"), schedule ? describeSchedule(schedule) : "on request only"],
    ...(schedule?.upcoming_runs_at ?? []).map((time, index) => [index === 0 ? dim("next") : "", localTime(time, zone)]),
    ...(schedule?.last_run_at ? [[dim("last"), localTime(schedule.last_run_at, zone)]] : []),
    ...(budget ? [[dim("budget"), `${usd(budget.max_list_cost)} per session`]] : []),
    ...deployment.tandem.warnings.map((warning) => [bad("warning"), printable(warning)]),
  ];
}
