import { nearest, TandemError, type Environment } from "@tandem/protocol";
import { listAll } from "@tandem/tandem/engine";
import type { Command } from "commander";
import { ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, write, writeJson, writeResult, writeTable } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (self: Command) => self.argument("<environment>", "id or name of the environment");
  examples(sub("list", "List environments.").addOption(json()).action(runner(list)), "tandem environments list");
  examples(
    sub("create", "Create a self-hosted environment: your workers run the tools of its sessions.")
      .argument("<name>", "name of the environment")
      .addOption(json())
      .action(runner(create)),
    "tandem environments create build-machines",
  );
  examples(
    one(sub("show", "Show an environment and its work queue.")).addOption(json()).action(runner(show)),
    "tandem environments show build-machines",
  );
  const keys = subcommandsOf(sub("keys", "Create, list and revoke the keys of an environment's workers."));
  examples(
    one(keys("create", "Create a key. It is printed once."))
      .option("--name <text>", "name for lists (default: worker)")
      .addOption(json())
      .action(runner((invocation, text: string, flags: { name?: string }) => createKey(invocation, text, flags.name))),
    "tandem environments keys create build-machines --name rack-1",
  );
  examples(
    one(keys("list", "List the keys of an environment, without their secrets."))
      .addOption(json())
      .action(runner(listKeys)),
    "tandem environments keys list build-machines",
  );
  examples(
    one(keys("revoke", "Revoke a key. Its workers stop at their next request."))
      .argument("<key>", "id of the key")
      .addOption(json())
      .action(runner(revokeKey)),
    "tandem environments keys revoke build-machines tok_01",
  );
}

const open = clientFor("tandem environments");

const all = ({ environments }: SessionsClient): Promise<Environment[]> =>
  Array.fromAsync(listAll((query) => environments.list(query)));

/** Finds an environment by id or name. */
async function find(client: SessionsClient, text: string): Promise<Environment> {
  const environments = await all(client);
  const found = environments.filter(({ id, name }) => id === text || name === text);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw new TandemError("ambiguous", `${found.length} environments have the name ${text}.`, { fix: "Use an id." });
  }
  const names = environments.flatMap(({ id, name }) => [id, name]);
  const meant = nearest(text, names);
  throw new TandemError("not_found", `There is no environment ${text}.`, {
    fix: meant ? `Did you mean ${meant}?` : "List them with `tandem environments list`.",
  });
}

async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const environments = await all(client);
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = environments.map(({ id, name, config, created_at }) => [
    id,
    bold(printable(name)),
    config.type === "self_hosted" ? "self-hosted" : "this machine",
    dim(id === "env_local" ? "built in" : `created ${ago(created_at)}`),
  ]);
  await writeResult(invocation, { environments }, table(rows));
}

async function create(invocation: Invocation, name: string): Promise<void> {
  await using client = await open(invocation);
  const environment = await client.environments.create({ name, config: { type: "self_hosted" } });
  if (invocation.json) return writeJson(invocation.stdout, environment);
  await write(invocation.stdout, `${environment.id}\n`);
  const next = `Create a key for its workers: tandem environments keys create ${environment.id}`;
  await write(invocation.stderr, `${styleFor(invocation.stderr).dim(next)}\n`);
}

async function show(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const environment = await find(client, text);
  const isSelfHosted = environment.config.type === "self_hosted";
  const stats = isSelfHosted ? await client.work.stats(environment.id) : undefined;
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = [
    [dim("id"), environment.id],
    [dim("name"), bold(printable(environment.name))],
    [dim("tools run"), isSelfHosted ? "on your workers (self-hosted)" : "on this machine"],
    ...(stats
      ? [
          [dim("waiting"), waiting(stats)],
          [dim("workers"), `${stats.workers_polling} polling`],
        ]
      : []),
  ];
  await writeResult(invocation, { ...environment, ...(stats && { work: stats }) }, table(rows));
}

const waiting = ({ depth, oldest_queued_at: since }: { depth: number; oldest_queued_at: string | null }): string =>
  `${depth} ${depth === 1 ? "session" : "sessions"}${depth > 0 && since ? `, the oldest since ${ago(since)}` : ""}`;

async function createKey(invocation: Invocation, text: string, name: string | undefined): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const key = await client.environmentKeys.create(id, name === undefined ? {} : { name });
  if (invocation.json) return writeJson(invocation.stdout, key);
  // Alone on stdout, so that a script can read it.
  await write(invocation.stdout, `${key.secret}\n`);
  const note = `${key.id} of ${id}. The key is not shown again. Revoke it: \`tandem environments keys revoke ${id} ${key.id}\``;
  await write(invocation.stderr, `${styleFor(invocation.stderr).dim(note)}\n`);
}

async function listKeys(invocation: Invocation, text: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  const keys = await client.environmentKeys.list(id);
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = keys.map((key) => [
    key.id,
    bold(printable(key.name)),
    dim(`created ${ago(key.created_at)}`),
    dim(key.last_used_at ? `used ${ago(key.last_used_at)}` : "never used"),
  ]);
  await writeTable(invocation, { keys }, rows, `No keys. Create one: tandem environments keys create ${id}`);
}

async function revokeKey(invocation: Invocation, text: string, key: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await find(client, text);
  await client.environmentKeys.revoke(id, key);
  await write(invocation.stdout, invocation.json ? `${JSON.stringify({ revoked: key })}\n` : `${key} is revoked.\n`);
}
