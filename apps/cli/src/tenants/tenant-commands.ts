import { type Command, Option } from "commander";
import type { TenantFlags } from "../commands/tenants.ts";
import type { Parts } from "../program.ts";

/** The commands about who shares a server without seeing each other. */
export function addTenantCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const load = () => import("../commands/tenants.ts");
  const tenants = program
    .command("tenants")
    .description("Let others use this server who see nothing of each other, and limit what they take.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const sub = (name: string, description: string, isDefault = false) =>
    tenants.command(name, { isDefault }).description(description).helpOption("-h, --help", "print help");
  const settings = (self: Command) =>
    self
      .option("--name <text>", "what it is called, for people")
      .addOption(new Option("--auth <kind>", "which credential its sessions get").choices(["api_key", "oauth_token"]))
      .option("--secret <place>", "where that is kept: env:NAME, file:path or command:… of yours")
      .option("--base-url <url>", "another address than the service's own")
      .option("--turns <number>", "at most so many turns at once; `none` for no limit, as below")
      .option("--sessions <number>", "at most so many sessions that are not archived")
      .option("--usd-per-day <dollars>", "at most so much money a day, at list price")
      .option("--file-mb <number>", "at most so many megabytes of uploaded files")
      .addOption(json());

  examples(
    sub("list", "List tenants.", true)
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).list(context))),
    "tandem tenants",
    "tandem tenants --json | jq -r '.tenants[].id'",
  );
  examples(
    settings(
      sub("create", "Create a tenant, with folders, variables and a database of its own.")
        .argument("<id>", "small letters, digits and hyphens; it names folders")
        .option("--folder <dir>", "the folder that its sessions work in (default: a new one in its home)"),
    ).action((id: string, flags: TenantFlags & { folder?: string }, self: Command) =>
      runner(self, async (context) => (await load()).create(context, id, flags)),
    ),
    'tandem tenants create acme --name "Acme Ltd" --auth api_key --secret env:ACME_KEY',
    "tandem tenants create lab --folder /srv/lab --turns 4 --usd-per-day 20",
  );
  examples(
    sub("show", "Show a tenant, what it may take, and what it takes now.")
      .argument("<id>", "the tenant's id")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id)),
      ),
    "tandem tenants show acme",
  );
  examples(
    settings(sub("set", "Change a tenant; what is not named stays.").argument("<id>", "the tenant's id"))
      .option("--no-credential", "from now on, what its own tandem.yaml says")
      .action((id: string, flags: TenantFlags, self: Command) =>
        runner(self, async (context) => (await load()).set(context, id, flags)),
      ),
    "tandem tenants set acme --turns 8 --usd-per-day none",
    "tandem tenants set acme --auth api_key --secret 'command:op read op://acme/anthropic/key'",
  );
  examples(
    sub("archive", "Refuse a tenant's tokens and end its turns; all that it has is kept.")
      .argument("<id>", "the tenant's id")
      .option("--undo", "serve it again")
      .addOption(json())
      .action((id: string, options: { undo?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).archive(context, id, options)),
      ),
    "tandem tenants archive acme",
    "tandem tenants archive acme --undo",
  );
  examples(
    sub("delete", "Delete an archived tenant with all that it has, for good.")
      .argument("<id>", "the tenant's id")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).remove(context, id, options)),
      ),
    "tandem tenants delete acme",
  );
}
