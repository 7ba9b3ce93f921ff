import { SESSION_METADATA, TandemError, type Deployment, type DeploymentUpdateParams } from "@tandem/protocol";
import { findAgent } from "@tandem/tandem/engine";
import type { Command } from "commander";
import {
  deploymentRows,
  describeOutcome,
  describeSchedule,
  describeStatus,
  localTime,
} from "../../deployments/describe-deployment.ts";
import { findDeployment, readDeployments } from "../../deployments/find-deployment.ts";
import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, write, writeJson } from "../../terminal.ts";
import { vaultIdsOf } from "../../vaults/find-vault.ts";
import { listOption, modeOption, subcommandsOf, type Registration } from "../registration.ts";

interface Flags {
  name?: string;
  description?: string;
  agent?: string;
  environment?: string;
  message?: string;
  cron?: string;
  timezone?: string;
  schedule?: boolean;
  budget?: string;
  vault?: string[];
  permissionMode?: string;
}

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string): Command =>
    sub(name, description).argument("<deployment>", "id or name of the deployment").addOption(json());
  const definition = (made: Command): Command =>
    made
      .option("--description <text>", "purpose of the deployment")
      .option("--environment <id>", "environment of its sessions (default: env_local)")
      .option("--cron <expression>", "minute, hour, day of month, month, day of week; such as 0 9 * * 1-5")
      .option("--timezone <zone>", "time zone of the schedule (default: that of this machine)")
      .option("--budget <dollars>", "most that each session may cost")
      .addOption(listOption("--vault <names>", "vaults whose credentials its sessions may use, by id or name"))
      .addOption(modeOption("--permission-mode <mode>", "how its sessions treat calls that need approval"));
  examples(
    sub("list", "List deployments with their next run, newest first.")
      .option("--all", "include archived deployments")
      .addOption(json())
      .action(runner(list)),
    "tandem deployments list",
  );
  examples(
    one("show", "Print a deployment with its next five times.").action(
      runner((invocation, name: string) => change(invocation, name, async (_client, found) => found)),
    ),
    "tandem deployments show report",
  );
  examples(
    definition(
      sub("create", "Create a deployment: an agent that runs on a schedule or on request.")
        .argument("<message>", "what the agent should do in each session")
        .requiredOption("--name <name>", "name of the deployment")
        .requiredOption("--agent <agent>", "id or name of the agent; its current version is used")
        .addOption(json()),
    ).action(runner((invocation, message: string, flags: Flags) => create(invocation, { ...flags, message }))),
    'tandem deployments create "Summarise the open issues." --name report --agent reviewer --cron "0 9 * * 1-5" --timezone Europe/Berlin',
  );
  examples(
    definition(
      one("update", "Change a deployment. Sessions that exist stay as they are.")
        .option("--name <name>", "new name")
        .option("--agent <agent>", "agent; takes its current version")
        .option("--message <text>", "what the agent should do in each session"),
    )
      .option("--no-schedule", "run on request only")
      .action(runner(update)),
    'tandem deployments update report --cron "0 8 * * *"',
  );
  const actions = [
    [
      "pause",
      "Pause the schedule. Runs on request still work.",
      (client: SessionsClient, id: string) => client.deployments.pause(id),
    ],
    [
      "unpause",
      "Continue the schedule with its next time.",
      (client: SessionsClient, id: string) => client.deployments.unpause(id),
    ],
    [
      "archive",
      "Archive a deployment. It never runs again.",
      (client: SessionsClient, id: string) => client.deployments.archive(id),
    ],
  ] as const;
  for (const [name, description, act] of actions) {
    examples(
      one(name, description).action(
        runner((invocation, which: string) => change(invocation, which, (client, { id }) => act(client, id))),
      ),
      `tandem deployments ${name} report`,
    );
  }
  examples(one("run", "Start a session now.").action(runner(run)), "tandem deployments run report");
  examples(
    sub("runs", "List runs, newest first: the session of each, or why there is none.")
      .argument("[deployment]", "id or name of the deployment")
      .addOption(json())
      .action(runner(runs)),
    "tandem deployments runs report",
  );
}

/** The fields that flags can set. */
type Given = Pick<
  DeploymentUpdateParams,
  "name" | "description" | "agent" | "environment_id" | "initial_events" | "budget" | "schedule"
> & { vault_ids?: string[] };

const SHOWN_RUNS = 50;

const open = clientFor("tandem deployments");

async function list(invocation: Invocation, { all = false }: { all?: boolean }): Promise<void> {
  await using client = await open(invocation);
  const found = await readDeployments(client, all);
  const { stdout, json } = invocation;
  if (json) return writeJson(stdout, { deployments: found });
  const { bold, dim } = styleFor(stdout);
  if (found.length === 0) {
    return write(stdout, `${dim("No deployments yet. Create one with `tandem deployments create`.")}\n`);
  }
  const rows = found.map((deployment) => {
    const { schedule, status } = deployment;
    const next = status === "active" ? schedule?.upcoming_runs_at?.[0] : undefined;
    return [
      deployment.id,
      bold(printable(deployment.name)),
      schedule ? describeSchedule(schedule) : "on request only",
      next && schedule ? `next ${localTime(next, schedule.timezone)}` : "",
      dim(describeStatus(deployment)),
    ];
  });
  await write(stdout, `${table(rows).join("\n")}\n${await noServer(invocation, client)}`);
}

async function create(invocation: Invocation, flags: Flags): Promise<void> {
  await using client = await open(invocation);
  const { schedule, ...params } = await paramsOf(client, flags);
  const made = await client.deployments.create({
    environment_id: "env_local",
    ...params,
    name: flags.name!,
    agent: params.agent!,
    initial_events: params.initial_events!,
    metadata: modeOf(flags),
    ...(schedule && { schedule }),
  });
  await print(invocation, client, made);
}

async function update(invocation: Invocation, name: string, flags: Flags): Promise<void> {
  await change(invocation, name, async (client, found) => {
    const params = await paramsOf(client, flags, found);
    return client.deployments.update(found.id, { ...params, metadata: modeOf(flags) });
  });
}

async function run(invocation: Invocation, name: string): Promise<number> {
  await using client = await open(invocation);
  const made = await client.deployments.run((await findDeployment(client, name)).id);
  const { stdout, json } = invocation;
  const { bad } = styleFor(stdout);
  if (json) await writeJson(stdout, made);
  else if (made.session_id === null) await write(stdout, `${bad("✗")} ${describeOutcome(made)}\n`);
  else await write(stdout, `${made.session_id}\n`);
  return made.error ? 1 : 0;
}

async function runs(invocation: Invocation, name: string | undefined): Promise<void> {
  await using client = await open(invocation);
  const deploymentId = name === undefined ? undefined : (await findDeployment(client, name)).id;
  const { data } = await client.deployments.runs.list({ limit: SHOWN_RUNS, deploymentId });
  const { stdout, json } = invocation;
  if (json) return writeJson(stdout, { runs: data });
  const { dim, good, bad } = styleFor(stdout);
  if (data.length === 0) return write(stdout, `${dim("No runs yet.")}\n`);
  const names = new Map((await readDeployments(client, true)).map((deployment) => [deployment.id, deployment]));
  const rows = data.map((made) => {
    const deployment = names.get(made.deployment_id);
    const { trigger_context: trigger } = made;
    const time = trigger.type === "schedule" ? trigger.scheduled_at : made.created_at;
    return [
      made.error ? bad("✗") : good("✓"),
      localTime(time, deployment?.schedule?.timezone ?? "UTC"),
      printable(deployment?.name ?? made.deployment_id),
      dim(trigger.type === "schedule" ? "scheduled" : "on request"),
      describeOutcome(made),
    ];
  });
  await write(stdout, `${table(rows).join("\n")}\n`);
}

async function change(
  invocation: Invocation,
  name: string,
  act: (client: SessionsClient, found: Deployment) => Promise<Deployment>,
): Promise<void> {
  await using client = await open(invocation);
  await print(invocation, client, await act(client, await findDeployment(client, name)));
}

async function print(invocation: Invocation, client: SessionsClient, deployment: Deployment): Promise<void> {
  const { stdout, json } = invocation;
  if (json) return writeJson(stdout, deployment);
  const lines = table(deploymentRows(stdout, deployment)).join("\n");
  await write(stdout, `${lines}\n${deployment.schedule ? await noServer(invocation, client) : ""}`);
}

async function noServer({ stdout }: Invocation, { url }: SessionsClient): Promise<string> {
  return url === undefined
    ? `${styleFor(stdout).dim("No server is running. Schedules start sessions while `tandem up` runs.")}\n`
    : "";
}

/** Only the flags that were given. */
async function paramsOf(client: SessionsClient, flags: Flags, current?: Deployment): Promise<Given> {
  const { name, description, agent, environment, message, budget, vault } = flags;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(agent !== undefined && { agent: (await findAgent(client, agent)).id }),
    ...(environment !== undefined && { environment_id: environment }),
    ...(message !== undefined && {
      initial_events: [{ type: "user.message" as const, content: [{ type: "text" as const, text: message }] }],
    }),
    ...(budget !== undefined && { budget: budgetFrom(budget) }),
    ...(vault && { vault_ids: await vaultIdsOf(client, vault) }),
    ...scheduleOf(flags, current),
  };
}

function scheduleOf(
  { cron, timezone, schedule }: Flags,
  current?: Deployment,
): Pick<DeploymentUpdateParams, "schedule"> {
  if (schedule === false) return { schedule: null };
  const expression = cron ?? (timezone === undefined ? undefined : current?.schedule?.expression);
  if (expression === undefined) {
    if (timezone === undefined) return {};
    throw new TandemError("usage", "--timezone needs --cron.", { fix: 'Add a schedule, such as --cron "0 9 * * *".' });
  }
  const zone = timezone ?? current?.schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { schedule: { type: "cron", expression, timezone: zone } };
}

function budgetFrom(text: string): NonNullable<DeploymentUpdateParams["budget"]> {
  const cents = Math.round(Number(text.replace(/^\$/, "")) * 100);
  if (cents > 0) return { type: "limit", max_list_cost: { amount: String(cents), currency: "USD" } };
  throw new TandemError("usage", `--budget: expected dollars such as 2.50, and found ${text}.`, {
    fix: "Write a number.",
  });
}

const modeOf = ({ permissionMode }: Flags): Record<string, string> =>
  permissionMode === undefined ? {} : { [SESSION_METADATA.permissionMode]: permissionMode };
