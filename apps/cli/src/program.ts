import { Command, Option } from "commander";
import { addAuditCommands } from "./audit-commands.ts";
import { addApprovalCommands } from "./approval-commands.ts";
import { addBudgetCommands } from "./budget-commands.ts";
import { addContextCommands } from "./context-commands.ts";
import type { Context } from "./context.ts";
import { addDatabaseCommands } from "./database-commands.ts";
import { addDemoCommand } from "./demo-command.ts";
import { EXIT_CODES } from "./exit-code.ts";
import { addFleetCommands } from "./fleet/fleet-commands.ts";
import { addTenantCommands } from "./tenants/tenant-commands.ts";
import { addIngestCommand } from "./ingest-command.ts";
import { addMemoryCommands } from "./memory-commands.ts";
import { AUTH_CHOICES, BACKEND_CHOICES, ROLE_CHOICES, type Shell, SHELLS } from "./option-choices.ts";
import { addProposalCommands } from "./proposal-commands.ts";
import { addRuleCommands } from "./rule-commands.ts";
import { addSessionCommands } from "./session-commands.ts";
import { addAcpCommand } from "./acp/acp-command.ts";
import { addStdioCommand } from "./stdio/stdio-command.ts";
import { addHistoryCommands } from "./history-commands.ts";
import { addWorktreeCommands } from "./worktree-commands.ts";
import type { ObjectOptions } from "./commands/object.ts";
import type { RehearseOptions } from "./commands/rehearse.ts";
import type { SetupOptions } from "./commands/setup.ts";
import type { TextOptions } from "./commands/text.ts";
import type { TrustOptions } from "./commands/trust.ts";

/** What an action does: run, and say with which code the process is to end. Nothing means 0. */
export type Runner = (command: Command, run: (context: Context) => Promise<number | void>) => Promise<void>;

const START = "Getting started:";
const USE = "Using the model:";
const AGENTS = "Running agents:";
const KNOW = "Knowing your data:";
const LOOK = "Looking and changing:";
const TOOLS = "Tools:";

/** All commands and their help. What a command does is loaded only when it is run. */
export function createProgram(version: string, runner: Runner): Command {
  const program = new Command("tandem")
    .description("Claude Code as an engine for other software.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "Print help, as --help does.")
    .option("--project <dir>", "the project's folder (default: the nearest one above with a tandem.yaml)")
    .option("--claude-path <file>", "an installed Claude Code instead of the one that ships with Tandem")
    .option("--debug", "print details and stack traces of errors")
    .configureHelp({ showGlobalOptions: false, subcommandTerm: (command) => command.name() })
    .addHelpText("after", ({ command }) => (command.parent ? "" : rootNotes()));

  const json = () => new Option("--json", "print JSON, errors included");
  const examples = (command: Command, ...lines: string[]) =>
    command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
  const group = (parent: Command, name: string, summary: string) =>
    parent.command(name).description(summary).helpOption("-h, --help", "print help").helpCommand(false);
  const command = (parent: Command, heading: string, name: string, description: string) =>
    parent.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");

  addDemoCommand(program, START, { examples, json, runner });

  examples(
    command(program, START, "setup", "Choose who answers and who pays, and write tandem.yaml.")
      .addOption(new Option("--backend <name>", "what performs LLM calls").choices(BACKEND_CHOICES))
      .addOption(new Option("--auth <kind>", "with claude-code: which credential it gets").choices(AUTH_CHOICES))
      .option("--api-key <place>", "where the key is kept: env:NAME, file:path or command:…")
      .option("--base-url <url>", "another address than the service's own")
      .option("--vertex-project <id>", "with vertex: the Google Cloud project")
      .option("--vertex-location <region>", "with vertex: the region")
      .option("--vertex-credentials <place>", "with vertex: where a service account's JSON is kept")
      .option("--model <name>", "the model of every role that has none of its own")
      .option("-y, --yes", "ask nothing; everything comes from the flags")
      .option("--mcp <clients>", "register `tandem mcp` with claude-code, cursor, vscode or zed; commas between them")
      .option("--no-verify", "do not check the login or key at the end")
      .addOption(json())
      .action((options: SetupOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/setup.ts")).setup(context, options)),
      ),
    "tandem setup",
    "tandem setup --yes --backend claude-code",
    "tandem setup --mcp claude-code,cursor",
    "tandem setup --yes --backend anthropic --api-key 'command:op read op://dev/anthropic/key'",
  );

  const callOptions = (self: Command) =>
    self
      .argument("[prompt...]", "the prompt; standard input is added to it, or is it")
      .option("-s, --system <text>", "the system prompt")
      .addOption(new Option("-r, --role <role>", "what the call is for").choices(ROLE_CHOICES).default("default"))
      .option("-m, --model <name>", "another model than the role's own")
      .option("--patience <duration>", "how long to wait for a quota to reset, such as 30s or 10m")
      .addOption(json());

  examples(
    callOptions(command(program, USE, "text", "Ask for text.")).action(
      (words: string[], options: TextOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/text.ts")).text(context, words, options)),
    ),
    'tandem text "Name three rivers"',
    'git diff | tandem text "Review this diff" --model opus',
    "tandem text --json < prompt.txt | jq -r .text",
  );

  examples(
    callOptions(command(program, USE, "object", "Ask for a JSON object that fits a schema."))
      .requiredOption("--schema <file>", "a JSON Schema file with an object at its root")
      .action((words: string[], options: ObjectOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/object.ts")).object(context, words, options)),
      ),
    'tandem object --schema person.json "Ada Lovelace, born 1815"',
    "tandem object --schema invoice.json < invoice.txt",
  );

  examples(
    command(
      program,
      USE,
      "models",
      "List the models that the backend offers, what is known of them, and who uses which.",
    )
      .option("--refresh", "ask again, though the list is less than a day old")
      .addOption(json())
      .action((options: { refresh?: boolean }, self: Command) =>
        runner(self, async (context) => (await import("./commands/models.ts")).models(context, options)),
      ),
    "tandem models",
    "tandem models --refresh",
    "tandem models --json | jq -r '.models[].id'",
  );

  addSessionCommands(program, AGENTS, { examples, json, runner });
  addApprovalCommands(program, AGENTS, { examples, json, runner });
  addBudgetCommands(program, AGENTS, { examples, json, runner });
  addHistoryCommands(program, AGENTS, { examples, json, runner });
  addWorktreeCommands(program, AGENTS, { examples, json, runner });
  addAuditCommands(program, AGENTS, { examples, json, runner });
  addRuleCommands(program, AGENTS, { examples, json, runner });
  addFleetCommands(program, AGENTS, { examples, json, runner });
  addTenantCommands(program, AGENTS, { examples, json, runner });
  addAcpCommand(program, AGENTS, { examples, runner });
  addStdioCommand(program, AGENTS, { examples, runner });

  addDatabaseCommands(program, KNOW, { examples, json, runner });
  addIngestCommand(program, KNOW, { examples, json, runner });
  addProposalCommands(program, KNOW, { examples, json, runner });
  addMemoryCommands(program, KNOW, { examples, json, runner });
  addContextCommands(program, KNOW, { examples, json, runner });

  examples(
    command(program, KNOW, "joins", "Find what refers to what in a database, declared or not; no model is asked.")
      .argument("<database>", "a SQLite or DuckDB file, a postgres:// or mysql:// address, or a connection's name")
      .addOption(json())
      .action((where: string, _options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/joins.ts")).joins(context, where)),
      ),
    "tandem joins shop.sqlite",
    "tandem joins shop.sqlite --json | jq '.[] | select(.status == \"accepted\")'",
  );

  examples(
    command(program, LOOK, "status", "Show who answers, who pays, whether the login or key works, and what is up.")
      .addOption(json())
      .action((_options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/status.ts")).status(context)),
      ),
    "tandem status",
    "tandem status --json | jq -r .payer",
  );

  examples(
    command(
      program,
      LOOK,
      "credentials",
      "Show where credentials for Claude are, which are used, and who pays; no values.",
    )
      .addOption(json())
      .action((_options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/credentials.ts")).credentials(context)),
      ),
    "tandem credentials",
    "tandem credentials --json | jq '.places[] | select(.state == \"found\") | .id'",
  );

  examples(
    command(program, LOOK, "doctor", "Check everything, and say what mends what is wrong.")
      .addOption(json())
      .action((_options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/doctor.ts")).doctor(context)),
      ),
    "tandem doctor",
    "tandem doctor --json | jq '.checks[] | select(.result != \"ok\")'",
  );

  addConfig(group(program, "config", "Show, change and explain tandem.yaml.").helpGroup(LOOK), {
    examples,
    json,
    runner,
  });

  examples(
    command(program, LOOK, "trust", "Let this folder's tandem.yaml, or with --folder what .claude brings, take effect.")
      .option(
        "--folder [path]",
        "settings, hooks, MCP servers and skills of a folder, for sessions (default: this one)",
      )
      .option("--revoke", "trust it no longer")
      .option("--list", "show the folders that are trusted for sessions")
      .addOption(json())
      .action((options: TrustOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/trust.ts")).trust(context, options)),
      ),
    "tandem trust",
    "tandem trust --folder ~/src/shop",
    "tandem trust --list",
    "tandem trust --folder --revoke",
  );

  addRehearse(
    group(program, "rehearse", "Stand in for the model's API, from a script or a recording.").helpGroup(TOOLS),
    {
      examples,
      json,
      runner,
    },
  );

  examples(
    command(program, TOOLS, "completion", "Print a completion script for a shell.")
      .addArgument(program.createArgument("<shell>").choices(SHELLS))
      .action((shell: Shell, _options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/completion.ts")).completion(context, shell, program)),
      ),
    "tandem completion bash > ~/.local/share/bash-completion/completions/tandem",
    "tandem completion zsh > ~/.tandem.zsh && echo 'source ~/.tandem.zsh' >> ~/.zshrc",
    "tandem completion fish > ~/.config/fish/completions/tandem.fish",
  );
  return program;
}

export interface Parts {
  examples: (command: Command, ...lines: string[]) => Command;
  json: () => Option;
  runner: Runner;
}

function addConfig(config: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/config.ts");
  const sub = (name: string, description: string) =>
    config.command(name).description(description).helpOption("-h, --help", "print help");
  examples(
    sub("show", "Print every setting that is in force, and where it comes from.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).show(context))),
    "tandem config show",
  );
  examples(
    sub("get", "Print one setting or section.")
      .argument("<key>", "such as llm.models.default")
      .addOption(json())
      .action((key: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).get(context, key)),
      ),
    "tandem config get llm.models.default",
  );
  examples(
    sub("set", "Change one setting; comments and layout of the file stay.")
      .argument("<key>", "such as llm.models.default")
      .argument("<value>", "the new value")
      .addOption(json())
      .action((key: string, value: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).set(context, key, value)),
      ),
    "tandem config set llm.models.triage haiku",
    "tandem config set llm.limits.patience 10m",
  );
  examples(
    sub("unset", "Remove one setting, so that its default holds again.")
      .argument("<key>", "such as llm.models.triage")
      .addOption(json())
      .action((key: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).set(context, key, undefined)),
      ),
    "tandem config unset llm.models.triage",
  );
  examples(
    sub("schema", "Print the JSON Schema of tandem.yaml.").action((_options: object, self: Command) =>
      runner(self, async (context) => (await load()).schema(context)),
    ),
    "tandem config schema > tandem.schema.json",
  );
}

function addRehearse(rehearse: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/rehearse.ts");
  const serving = (name: string, description: string) =>
    rehearse
      .command(name)
      .description(description)
      .helpOption("-h, --help", "print help")
      .option("--port <number>", "the port on 127.0.0.1 (default: any free one)")
      .option("--proxy", "also be a TLS proxy, for callers that insist on the true host names")
      .addOption(json());
  examples(
    serving("serve", "Answer as a script says.")
      .argument("<script>", "a .ts or .js module that exports a script, or a .json list of replies")
      .action((file: string, options: RehearseOptions, self: Command) =>
        runner(self, async (context) => (await load()).serve(context, file, options)),
      ),
    "tandem rehearse serve script.ts --port 8080",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=rehearsal claude -p hello",
  );
  examples(
    serving("record", "Pass requests on to the real service and record them, secrets removed.")
      .argument("<file>", "the .jsonl file to write; it must not exist")
      .option("--upstream <url>", "where requests go (default: the service that the caller names)")
      .action((file: string, options: RehearseOptions & { upstream?: string }, self: Command) =>
        runner(self, async (context) => (await load()).record(context, file, options)),
      ),
    "tandem rehearse record run.jsonl",
  );
  examples(
    serving("replay", "Answer as a recording did.")
      .argument("<file>", "a .jsonl file that `tandem rehearse record` wrote")
      .action((file: string, options: RehearseOptions, self: Command) =>
        runner(self, async (context) => (await load()).replay(context, file, options)),
      ),
    "tandem rehearse replay run.jsonl --port 8080",
  );
}

function rootNotes(): string {
  const codes = Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`);
  return `
Examples:
  $ tandem demo
  $ tandem demo context
  $ tandem setup
  $ tandem text "Name three rivers"
  $ tandem run "What is in this folder?"

Exit codes:
${codes.join("\n")}

Variables:
  TANDEM_PROJECT  the project's folder, as --project
  TANDEM_HOME     where Tandem keeps what is yours (default: ~/.tandem)
  DATABASE_URL    a Postgres database for sessions, where storage.url names none
  NO_COLOR        no colours`;
}
