import { type Command, Option } from "commander";
import type { AddOptions } from "./commands/connections.ts";
import type { ScanOptions } from "./commands/scan.ts";
import { DRIVER_CHOICES } from "./option-choices.ts";
import type { Parts } from "./program.ts";

/** The commands about databases: which there are, and reading them. */
export function addDatabaseCommands(program: Command, heading: string, parts: Parts): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");
  addConnections(command("connections", "Name databases, and try whether they can be read.").helpCommand(false), parts);
  addScan(command("scan", "Read a database into the catalogue: tables, descriptions, joins."), parts);
}

function addConnections(connections: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/connections.ts");
  const sub = (name: string, description: string) =>
    connections.command(name).description(description).helpOption("-h, --help", "print help");
  examples(
    sub("list", "List the connections of this project.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).list(context))),
    "tandem connections list",
  );
  examples(
    sub("test", "Open a connection and count what can be seen.")
      .argument("[name]", "its name (default: all of them)")
      .addOption(json())
      .action((name: string | undefined, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).test(context, name)),
      ),
    "tandem connections test shop",
  );
  examples(
    sub("add", "Write a connection into tandem.yaml, and try it.")
      .argument("<name>", "what it is to be called: small letters, digits, - and _")
      .argument("<place>", "a file, an address without a password, or where one is kept: env:NAME, file:…, command:…")
      .addOption(
        new Option("--driver <name>", "what kind of database it is, if that cannot be told").choices(DRIVER_CHOICES),
      )
      .option("--password <place>", "where the password is kept: env:NAME, file:path or command:…")
      .addOption(
        new Option("--schema <name>", "only this schema; may be given more than once").argParser(
          (name: string, all: string[] | undefined) => [...(all ?? []), name],
        ),
      )
      .option("--no-test", "do not try it")
      .addOption(json())
      .action((name: string, place: string, options: AddOptions, self: Command) =>
        runner(self, async (context) => (await load()).add(context, name, place, options)),
      ),
    "tandem connections add shop data/shop.sqlite",
    "tandem connections add crm postgres://reader@db.example/crm --password env:CRM_PASSWORD",
    "tandem connections add erp env:ERP_URL --driver mysql --schema sales --schema stock",
  );
  examples(
    sub("remove", "Take a connection out of tandem.yaml; what is known of it stays.")
      .argument("<name>", "its name")
      .addOption(json())
      .action((name: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).remove(context, name)),
      ),
    "tandem connections remove shop",
  );
}

function addScan(scan: Command, { examples, json, runner }: Parts): void {
  scan
    .argument("[connection]", "its name (default: the only one there is)")
    .option("--all", "every connection of this project")
    .option("--dry-run", "say what would be read, asked and about spent, and do nothing")
    .option("--no-descriptions", "have no model describe tables and columns")
    .addOption(json())
    .action((name: string | undefined, options: ScanOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/scan.ts")).scan(context, name, options)),
    );
  examples(
    scan,
    "tandem scan shop",
    "tandem scan --all --no-descriptions",
    "tandem scan shop --dry-run",
    "tandem scan shop --json | jq '.scans[].tables'",
  );
}
