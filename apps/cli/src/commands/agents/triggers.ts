import {
  TandemError,
  type Trigger,
  type TriggerVerification,
  triggerVerification,
  type TriggerWithSecret,
} from "@tandem/protocol";
import { localActor } from "@tandem/tandem/project";
import type { Command } from "commander";
import { findDeployment } from "../../deployments/find-deployment.ts";
import { ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, write, writeResult, writeTable } from "../../terminal.ts";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";

interface AddFlags {
  github?: true;
  standardWebhooks?: true;
  hmac?: string;
  name?: string;
  event?: string[];
  message?: string;
}

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) =>
    sub(name, description)
      .argument("<deployment>", "deployment, by id or name")
      .argument("<trigger>", "trigger id")
      .addOption(json());
  examples(
    sub("list", "List the triggers of a deployment.")
      .argument("<deployment>", "deployment, by id or name")
      .addOption(json())
      .action(runner(list)),
    "tandem triggers list report",
  );
  examples(
    sub("add", "Add a trigger: signed deliveries of another service start runs. Prints the secret once.")
      .argument("<deployment>", "deployment, by id or name")
      .option("--github", "signatures as GitHub's")
      .option("--standard-webhooks", "signatures of Standard Webhooks")
      .option("--hmac <json>", "another HMAC scheme: its settings as JSON")
      .option("--name <name>", "name for the log")
      .addOption(listOption("--event <names>", "only these events, such as issues.opened"))
      .option("--message <template>", "first message; {{path}} inserts a value of the payload")
      .addOption(json())
      .action(runner(add)),
    "tandem triggers add report --github --event issues.opened --message 'Triage {{issue.title}}'",
    `tandem triggers add report --hmac '{"header": "x-signature"}'`,
  );
  examples(
    one("show", "Show a trigger and its latest deliveries.").action(runner(show)),
    "tandem triggers show report trig_01JAB",
  );
  examples(
    one("rotate", "Replace the secret of a trigger. Prints the new one once.").action(runner(rotate)),
    "tandem triggers rotate report trig_01JAB",
  );
  for (const [name, enabled, description] of [
    ["on", true, "Turn a trigger on."],
    ["off", false, "Turn a trigger off: its deliveries are refused."],
  ] as const) {
    examples(
      one(name, description).action(
        runner((on, deployment: string, trigger: string) => turn(on, deployment, trigger, enabled)),
      ),
      `tandem triggers ${name} report trig_01JAB`,
    );
  }
  examples(one("remove", "Remove a trigger.").action(runner(remove)), "tandem triggers remove report trig_01JAB");
}

const open = clientFor("tandem triggers");

const idOf = async (client: SessionsClient, deployment: string): Promise<string> =>
  (await findDeployment(client, deployment)).id;

async function list(invocation: Invocation, deployment: string): Promise<void> {
  await using client = await open(invocation);
  const triggers = await client.triggers.list(await idOf(client, deployment));
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = triggers.map(({ id, name, verification, filter, enabled }) => [
    bold(id),
    printable(name),
    verification.type,
    dim(printable(filter?.events?.join(", ") ?? "every event")),
    enabled ? "on" : dim("off"),
  ]);
  await writeTable(invocation, { triggers }, rows, "No triggers. Add one: tandem triggers add");
}

async function add(invocation: Invocation, deployment: string, flags: AddFlags): Promise<void> {
  const verification = verificationOf(flags);
  const { name = "trigger", event, message = null } = flags;
  await using client = await open(invocation);
  const filter = event ? { events: event } : null;
  const params = { name, verification, filter, message, enabled: true };
  const made = await client.triggers.create(await idOf(client, deployment), params, localActor());
  await printSecret(invocation, client, made);
}

function verificationOf({ github, standardWebhooks, hmac }: AddFlags): TriggerVerification {
  if ([github, standardWebhooks, hmac].filter((flag) => flag !== undefined).length !== 1) {
    throw new TandemError("usage", "A trigger has one kind of signature.", {
      fix: "Use one of --github, --standard-webhooks and --hmac.",
    });
  }
  if (hmac === undefined) return { type: github ? "github" : "standard_webhooks" };
  try {
    return triggerVerification.parse({ type: "hmac", ...(JSON.parse(hmac) as object) });
  } catch (cause) {
    throw new TandemError("usage", "--hmac expects JSON with the settings of the signature.", {
      fix: `Such as: --hmac '{"header": "x-signature", "prefix": "sha256="}'`,
      cause,
    });
  }
}

async function printSecret(invocation: Invocation, client: SessionsClient, trigger: TriggerWithSecret): Promise<void> {
  const { dim } = styleFor(invocation.stdout);
  const rows = [
    [dim("trigger"), trigger.id],
    [dim("address"), `${client.url ?? ""}${trigger.path}`],
    [dim("secret"), `${trigger.secret ?? ""}  ${dim("(shown once)")}`],
  ];
  await writeResult(invocation, trigger, table(rows));
}

async function show(invocation: Invocation, deployment: string, id: string): Promise<void> {
  await using client = await open(invocation);
  const owner = await idOf(client, deployment);
  const trigger = await client.triggers.get(owner, id);
  const deliveries = await client.triggers.deliveries(owner, id, 20);
  const { dim } = styleFor(invocation.stdout);
  const lines = [...table(describe(trigger, client.url).map(([label, value]) => [dim(label), printable(value)])), ""];
  const rows = deliveries.map(({ received_at: at, event, result, reason, run_id: run }) => [
    dim(ago(at)),
    printable(event ?? ""),
    result,
    dim(printable(run ?? reason ?? "")),
  ]);
  lines.push(...(rows.length > 0 ? table(rows) : [dim("No deliveries yet.")]));
  await writeResult(invocation, { trigger, deliveries }, lines);
}

const describe = (trigger: Trigger, url = ""): [string, string][] => [
  ["name", trigger.name],
  ["address", `${url}${trigger.path}`],
  ["signature", trigger.verification.type],
  ["events", trigger.filter?.events?.join(", ") ?? "every event"],
  ...(trigger.filter?.where ?? []).map(({ path, in: wanted }): [string, string] => [
    "where",
    `${path} is ${wanted.join(" or ")}`,
  ]),
  ["message", trigger.message ?? "the whole payload"],
  ["state", trigger.enabled ? "on" : "off"],
];

async function rotate(invocation: Invocation, deployment: string, id: string): Promise<void> {
  await using client = await open(invocation);
  const owner = await idOf(client, deployment);
  await printSecret(invocation, client, await client.triggers.rotate(owner, id, undefined, localActor()));
}

async function turn(invocation: Invocation, deployment: string, id: string, enabled: boolean): Promise<void> {
  await using client = await open(invocation);
  const trigger = await client.triggers.update(await idOf(client, deployment), id, { enabled }, localActor());
  await writeResult(invocation, trigger, [`${id} is ${enabled ? "on" : "off"}.`]);
}

async function remove(invocation: Invocation, deployment: string, id: string): Promise<void> {
  await using client = await open(invocation);
  await client.triggers.delete(await idOf(client, deployment), id, localActor());
  const { stdout, json } = invocation;
  await write(stdout, json ? `${JSON.stringify({ type: "trigger_deleted", id })}\n` : `Removed ${id}.\n`);
}
