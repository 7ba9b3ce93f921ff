import { type Command, InvalidArgumentError, Option } from "commander";
import type { GraphOptions, SearchOptions } from "./commands/context.ts";
import type { JobListOptions } from "./commands/jobs.ts";
import type { SqlOptions } from "./commands/sql.ts";
import { JOB_STATE_CHOICES, SEARCH_KIND_CHOICES } from "./option-choices.ts";
import type { Parts } from "./program.ts";

/** The commands that ask the context, and those about work on it. */
export function addContextCommands(program: Command, heading: string, parts: Parts): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");
  addContext(command("context", "Search and show what is known.").helpCommand(false), parts);
  addSql(command("sql", "Ask a database with one statement that only reads."), parts);
  addJobs(command("jobs", "Look at scans and other background work, and cancel it.").helpCommand(false), parts);
  addMcp(command("mcp", "Serve what is known to an MCP client, on standard input and output."), parts);
}

function addContext(context: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/context.ts");
  const sub = (name: string, description: string) =>
    context.command(name).description(description).helpOption("-h, --help", "print help");
  examples(
    sub("search", "Find tables, columns, sampled values, pages and memories.")
      .argument("<words...>", "what to look for, in any language")
      .addOption(
        new Option("--kind <kind>", "only these; may be given more than once")
          .choices(SEARCH_KIND_CHOICES)
          .argParser((kind: string, all: string[] | undefined) => {
            if (SEARCH_KIND_CHOICES.includes(kind)) return [...(all ?? []), kind];
            throw new InvalidArgumentError(`Allowed choices are ${SEARCH_KIND_CHOICES.join(", ")}.`);
          }),
      )
      .option("--connection <name>", "only tables of this connection")
      .option("--limit <number>", "at most so many", "10")
      .addOption(json())
      .action((words: string[], options: SearchOptions, self: Command) =>
        runner(self, async (given) => (await load()).search(given, words, options)),
      ),
    "tandem context search refund policy",
    "tandem context search Zürich --kind value",
  );
  examples(
    sub("show", "Print a page, a memory, or all that is known of a table.")
      .argument("<what>", "a key that `search` has found, or a table's name")
      .addOption(json())
      .action((what: string, _options: object, self: Command) =>
        runner(self, async (given) => (await load()).show(given, what)),
      ),
    "tandem context show orders",
    "tandem context show page:refund-policy",
  );
  examples(
    sub("graph", "Show which tables join, around one or all of them.")
      .argument("[table]", "where to begin (default: all tables)")
      .option("--connection <name>", "only tables of this connection")
      .option("--depth <number>", "so many joins away", "1")
      .option("--limit <number>", "at most so many tables", "100")
      .option("--mermaid", "print a Mermaid diagram")
      .addOption(json())
      .action((table: string | undefined, options: GraphOptions, self: Command) =>
        runner(self, async (given) => (await load()).graph(given, table, options)),
      ),
    "tandem context graph orders --depth 2",
    "tandem context graph --mermaid > joins.mmd",
  );
  examples(
    sub("status", "Show what there is: counts, databases, sources, open proposals, unreadable files.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (given) => (await load()).status(given))),
    "tandem context status",
  );
}

function addSql(sql: Command, { examples, json, runner }: Parts): void {
  sql
    .argument("<connection>", "its name")
    .argument("[query...]", "the statement; without it, it is read from standard input")
    .option("--csv", "print CSV")
    .option("--max-rows <number>", "at most so many rows", "100")
    .option("--estimate", "say what it would read, where the database can tell, and do not run it")
    .addOption(json())
    .action((name: string, words: string[], options: SqlOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/sql.ts")).sql(context, name, words, options)),
    );
  examples(
    sql,
    'tandem sql shop "select count(*) from orders"',
    "tandem sql shop --csv --max-rows 10000 < report.sql > report.csv",
    'tandem sql shop --estimate "select * from orders"',
  );
}

function addJobs(jobs: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/jobs.ts");
  const sub = (name: string, description: string) =>
    jobs.command(name).description(description).helpOption("-h, --help", "print help");
  const one = (name: string, description: string) =>
    sub(name, description).argument("<job>", "its id; `last` is the newest").addOption(json());
  examples(
    sub("list", "List jobs, the newest first.")
      .option("--kind <kind>", "only of this kind, such as scan")
      .addOption(new Option("--state <state>", "those that are").choices(JOB_STATE_CHOICES))
      .option("--limit <number>", "at most so many", "20")
      .addOption(json())
      .action((options: JobListOptions, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem jobs list",
    "tandem jobs list --state running --json | jq -r '.jobs[].id'",
  );
  examples(
    one("show", "Show a job, and what came of it.").action((id: string, _options: object, self: Command) =>
      runner(self, async (context) => (await load()).show(context, id)),
    ),
    "tandem jobs show last",
  );
  examples(
    one("follow", "Watch a job until it has ended, whoever works on it.").action(
      (id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).follow(context, id)),
    ),
    "tandem jobs follow last",
  );
  examples(
    one("cancel", "Cancel a job: what it has done so far stays.").action(
      (id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).cancel(context, id)),
    ),
    "tandem jobs cancel last",
  );
}

function addMcp(mcp: Command, { examples, json, runner }: Parts): void {
  mcp.action((_options: object, self: Command) =>
    runner(self, async (context) => (await import("./commands/mcp.ts")).mcp(context)),
  );
  examples(mcp, "tandem mcp", "claude mcp add tandem -- tandem mcp --project ~/shop");
  const sub = (name: string, description: string) =>
    mcp.command(name).description(description).helpOption("-h, --help", "print help");
  const load = () => import("./commands/mcp-servers.ts");
  examples(
    sub("servers", "Show the MCP servers that sessions have met, and what they say of their tools.")
      .argument("[server]", "one of them, by id or name: with its tools in full")
      .addOption(json())
      .action((id: string | undefined, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).servers(context, id)),
      ),
    "tandem mcp servers",
    "tandem mcp servers github",
  );
  examples(
    sub("accept", "Accept what a server says of its tools now; until then its calls are asked for.")
      .argument("<server>", "by id or name")
      .option("-y, --yes", "ask nothing")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).accept(context, id, options)),
      ),
    "tandem mcp accept github",
  );
}
