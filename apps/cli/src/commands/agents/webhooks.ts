import { nearest, TandemError, WEBHOOK_EVENTS } from "@tandem/protocol";
import type { WebhookEndpoint } from "@tandem/sessions";
import type { Command } from "commander";
import { ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, write, writeJson, writeResult, writeTable, type Style } from "../../terminal.ts";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";

const DEFAULT_EVENTS = ["session.status_idled", "session.requires_action"];

interface Fields {
  url?: string;
  events?: string[];
  name?: string;
  description?: string;
}

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const events = () =>
    listOption("--events <types>", "event types to send; `session.*` and `all` name several (default: ends of turns)");
  const one = (self: Command) => self.argument("<webhook>", "id or name of the endpoint");
  const fields = (self: Command) =>
    self
      .addOption(events())
      .option("--name <text>", "name for lists")
      .option("--description <text>", "notes about the endpoint");

  examples(
    sub("list", "List the webhook endpoints, with their last delivery.").addOption(json()).action(runner(list)),
    "tandem webhooks list",
  );
  examples(
    fields(sub("add", "Add an endpoint. Its signing secret is printed once.").argument("<url>", "URL of the endpoint"))
      .addOption(json())
      .action(runner((its, url: string, flags: Fields) => add(its, { ...flags, url }))),
    "tandem webhooks add https://example.com/hooks --events session.status_idled,deployment_run.failed",
    'tandem webhooks add http://127.0.0.1:3000/hooks --events "session.*" --name ops',
  );
  examples(
    one(sub("show", "Show an endpoint and its event types.")).addOption(json()).action(runner(show)),
    "tandem webhooks show ops",
  );
  examples(
    fields(one(sub("update", "Change an endpoint. Events while it is disabled are never delivered.")))
      .option("--url <url>", "new URL")
      .option("--enable", "deliver again")
      .option("--disable", "stop deliveries")
      .addOption(json())
      .action(runner(update)),
    "tandem webhooks update ops --enable",
    "tandem webhooks update ops --events all",
  );
  examples(
    one(sub("remove", "Remove an endpoint and its delivery log.")).addOption(json()).action(runner(remove)),
    "tandem webhooks remove ops",
  );
  examples(
    one(sub("rotate", "Replace the signing secret. Both sign for a day. The new one is printed once."))
      .addOption(json())
      .action(runner(rotate)),
    "tandem webhooks rotate ops",
  );
  examples(
    one(sub("test", "Send a test event now.")).addOption(json()).action(runner(test)),
    "tandem webhooks test ops",
  );
  examples(
    one(sub("deliveries", "List the newest deliveries to an endpoint.")).addOption(json()).action(runner(deliveries)),
    "tandem webhooks deliveries ops",
  );
  examples(
    one(sub("resend", "Deliver an event again, under the same id."))
      .argument("<delivery>", "id of the delivery, from `tandem webhooks deliveries`")
      .addOption(json())
      .action(runner(resend)),
    "tandem webhooks resend ops whe_01JZ0000000000000000000000",
  );
}

const SHOWN_DELIVERIES = 50;

const open = clientFor("tandem webhooks");

/** Finds an endpoint by id or name. */
async function find({ webhooks }: SessionsClient, text: string): Promise<WebhookEndpoint> {
  const all = await webhooks.list();
  const found = all.filter(({ id, name }) => id === text || name === text);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw new TandemError("ambiguous", `${found.length} endpoints have the name ${text}.`, { fix: "Use an id." });
  }
  const names = all.flatMap(({ id, name }) => (name === "" ? [id] : [id, name]));
  const meant = nearest(text, names);
  throw new TandemError("not_found", `There is no webhook endpoint ${text}.`, {
    fix: meant ? `Did you mean ${meant}?` : "List them with `tandem webhooks list`.",
  });
}

/** Expands `session.*` and `all`. */
function typesOf(names: readonly string[]): WebhookEndpoint["enabled_events"] {
  return names.flatMap((name) => {
    const types = WEBHOOK_EVENTS.filter(
      (type) => type === name || name === "all" || (name.endsWith(".*") && type.startsWith(name.slice(0, -1))),
    );
    if (types.length > 0) return types;
    throw new TandemError("usage", `There is no event type ${name}.`, {
      fix: `Did you mean ${nearest(name, [...WEBHOOK_EVENTS]) ?? "session.*"}? docs/guides/webhooks.md lists them.`,
    });
  });
}

async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const webhooks = await client.webhooks.list();
  const style = styleFor(invocation.stdout);
  const rows = webhooks.map((each) => [
    each.id,
    style.bold(printable(each.name)),
    printable(each.url),
    stateOf(each, style),
    lastOf(each, style),
  ]);
  await writeTable(invocation, { webhooks }, rows, "No webhook endpoints. Add one: tandem webhooks add URL");
}

const stateOf = ({ state, disabled_reason }: WebhookEndpoint, { good, bad, dim }: Style): string =>
  state === "enabled" ? good("enabled") : disabled_reason === "" ? dim("disabled") : bad(printable(disabled_reason));

function lastOf({ last, pending }: WebhookEndpoint, { dim, bad }: Style): string {
  const waiting = pending > 0 ? `, ${pending} waiting` : "";
  if (last === null) return dim(`nothing sent yet${waiting}`);
  if (last.delivered) return dim(`delivered ${ago(last.at)}${waiting}`);
  return bad(`failed ${ago(last.at)}: ${printable(last.detail ?? "")}${waiting}`);
}

async function add(invocation: Invocation, { url = "", events = DEFAULT_EVENTS, name = "", description = "" }: Fields) {
  const enabled_events = typesOf(events);
  await using client = await open(invocation);
  const { endpoint, secret } = await client.webhooks.create({ url, enabled_events, name, description });
  if (invocation.json) return writeJson(invocation.stdout, { ...endpoint, signing_secret: secret });
  await printSecret(invocation, secret, `${endpoint.id} gets ${endpoint.enabled_events.length} types of events.`);
}

/** The secret alone on stdout, so that a script can read it. */
async function printSecret({ stdout, stderr }: Invocation, secret: string, about: string): Promise<void> {
  await write(stdout, `${secret}\n`);
  await write(stderr, `${styleFor(stderr).dim(`${about} The signing secret is not shown again.`)}\n`);
}

async function show(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const endpoint = await find(client, text);
  const style = styleFor(invocation.stdout);
  const { dim } = style;
  const rows = [
    [dim("id"), endpoint.id],
    [dim("url"), printable(endpoint.url)],
    ...(endpoint.name === "" ? [] : [[dim("name"), printable(endpoint.name)]]),
    ...(endpoint.description === "" ? [] : [[dim("notes"), printable(endpoint.description)]]),
    [dim("state"), stateOf(endpoint, style)],
    [dim("last"), lastOf(endpoint, style)],
    [dim("managed by"), endpoint.source === "config" ? "tandem.yaml" : "API, page and command line"],
    ...endpoint.enabled_events.map((type, index) => [dim(index === 0 ? "events" : ""), type]),
  ];
  await writeResult(invocation, endpoint, table(rows));
}

async function update(invocation: Invocation, text: string, flags: Fields & { enable?: true; disable?: true }) {
  const { events, enable, disable, ...change } = flags;
  if (enable && disable) throw new TandemError("usage", "--enable and --disable exclude each other.");
  const state = enable ? ("enabled" as const) : disable ? ("disabled" as const) : undefined;
  const fields = { ...change, ...(events && { enabled_events: typesOf(events) }), ...(state && { state }) };
  if (Object.keys(fields).length === 0) {
    throw new TandemError("usage", "There is nothing to change.", { fix: "Name a change, such as --events all." });
  }
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const endpoint = await client.webhooks.update(id, fields);
  const style = styleFor(invocation.stdout);
  await writeResult(invocation, endpoint, [`${endpoint.id}  ${printable(endpoint.url)}  ${stateOf(endpoint, style)}`]);
}

async function remove(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  await client.webhooks.delete(id);
  await writeResult(invocation, { id, removed: true }, [`Removed ${id}.`]);
}

async function rotate(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const secret = await client.webhooks.rotate(id);
  if (invocation.json) return writeJson(invocation.stdout, { id, signing_secret: secret });
  await printSecret(invocation, secret, "For a day, deliveries are signed with the former secret, too.");
}

/** Exits with 1 if the endpoint did not accept the test. */
async function test(invocation: Invocation, text: string): Promise<number> {
  await using client = await open(invocation);
  const { id, url } = await find(client, text);
  const result = await client.webhooks.test(id);
  const { good, bad, dim } = styleFor(invocation.stdout);
  if (invocation.json) await writeJson(invocation.stdout, result);
  else {
    const mark = result.delivered ? good("✓") : bad("✗");
    const about = result.delivered ? `answered ${result.status}` : (result.detail ?? "");
    await write(invocation.stdout, `${mark} ${printable(url)}  ${dim(printable(about))}\n`);
  }
  return result.delivered ? 0 : 1;
}

async function deliveries(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const found = await client.webhooks.deliveries(id, { limit: SHOWN_DELIVERIES });
  const { good, bad, dim } = styleFor(invocation.stdout);
  const rows = found.map(({ id: delivery, type, resource_id, state, attempts, last_at, detail }) => [
    delivery,
    type,
    resource_id,
    state === "delivered" ? good(state) : state === "pending" ? state : bad(state),
    dim(`${attempts} ${attempts === 1 ? "attempt" : "attempts"}, ${ago(last_at)}`),
    dim(printable(detail ?? "")),
  ]);
  await writeTable(invocation, { deliveries: found }, rows, "No deliveries yet.");
}

async function resend(invocation: Invocation, text: string, delivery: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const sent = await client.webhooks.resend(id, delivery);
  await writeResult(invocation, sent, [`${sent.id} is delivered again.`]);
}
