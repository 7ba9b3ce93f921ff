import { type Command, InvalidArgumentError, Option } from "commander";
import type { AgentFlags } from "./sessions/read-agent.ts";
import type { PruneOptions } from "./commands/prune-sessions.ts";
import type { ListOptions } from "./commands/sessions.ts";
import type { ConvertOptions } from "./commands/convert.ts";
import type { ImportClaudeOptions } from "./commands/import-claude.ts";
import type { ImportOptions } from "./commands/import.ts";
import type { LogsOptions } from "./commands/logs.ts";
import type { RunOptions } from "./commands/run.ts";
import type { UpOptions } from "./commands/up.ts";
import {
  DEMO_CHOICES,
  FLEET_ROLE_CHOICES,
  EFFORT_CHOICES,
  LEVEL_CHOICES,
  MODE_CHOICES,
  OUTPUT_FORMATS,
  SCOPE_CHOICES,
  STATUS_CHOICES,
  TOOL_CHOICES,
} from "./option-choices.ts";
import type { Parts } from "./program.ts";

type ImportSessionOptions = ImportClaudeOptions & { fromClaude?: boolean; withWaiting?: boolean };

/** The commands about the server, agents and sessions. */
export function addSessionCommands(program: Command, heading: string, parts: Parts): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");
  const group = (name: string, description: string) => command(name, description).helpCommand(false);
  addUp(command("up", "Start the server that the Anthropic SDKs and the page speak to."), parts);
  addOpen(command("open", "Open the page of the server that is up."), parts);
  addRun(command("run", "Have an agent do something in this folder."), parts);
  addSessions(group("sessions", "List, read, move and delete sessions."), parts);
  addAgents(group("agents", "Define the agents that sessions run."), parts);
  addSessionTools(command, parts);
  addToken(group("token", "Make and revoke tokens of the server."), parts);
  addLogs(command("logs", "Read the server's log."), parts);
}

function addSessionTools(
  command: (name: string, description: string) => Command,
  { examples, json, runner }: Parts,
): void {
  const load = () => import("./commands/session-tools.ts");
  examples(
    command("commands", "List the slash commands of a session.")
      .argument("<session>", "its id; `last` is the newest")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).commands(context, id)),
      ),
    "tandem commands last",
  );
  examples(
    command("shell", "Run a command in a session's folder; its output joins the conversation.")
      .argument("<session>", "its id; `last` is the newest")
      .argument("<command...>", "the command")
      .addOption(json())
      .action((id: string, words: string[], _options: object, self: Command) =>
        runner(self, async (context) => (await load()).shell(context, id, words)),
      ),
    'tandem shell last "npm test"',
  );
  examples(
    command("import", "Take over rules, MCP servers, agents and commands of Claude Code's or opencode's files.")
      .addOption(new Option("--from <tool>", "only from one of them").choices(["claude", "opencode"]))
      .option("--dry-run", "only say what would be taken over")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((options: ImportOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/import.ts")).importConfig(context, options)),
      ),
    "tandem import --dry-run",
    "tandem import --from claude",
  );
  examples(
    command("convert", "Turn what `claude --print` wrote into events, one line of JSON each.")
      .argument("[file]", "the file; - or nothing for standard input, line by line as it comes")
      .addOption(new Option("--from <form>", "what it is (default: what it looks like)").choices(OUTPUT_FORMATS))
      .option("--import", "keep it as a session, too")
      .option("--cwd <dir>", "with --import: the folder that the session works in (default: its own, or this one)")
      .addOption(json())
      .action((file: string | undefined, options: ConvertOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/convert.ts")).convert(context, file, options)),
      ),
    'claude --print --output-format stream-json --verbose "Mend the test" | tandem convert',
    "tandem convert answer.jsonl | jq -c 'select(.type == \"agent.tool_use\")'",
    "tandem convert --import answer.jsonl > events.jsonl",
  );
}

function addOpen(open: Command, { examples, json, runner }: Parts): void {
  open
    .option("--no-browser", "only print the link")
    .option("--as <name>", "whose link it is: by this name stands what is decided there (default: page)")
    .option("--tenant <id>", "for somebody of a tenant, who sees nothing else: see `tandem tenants`")
    .addOption(json())
    .action((options: { browser: boolean; as?: string; tenant?: string }, self: Command) =>
      runner(self, async (context) => (await import("./commands/open.ts")).open(context, options)),
    );
  examples(open, "tandem open", "tandem open --no-browser --as Ana", "tandem open --no-browser --tenant acme");
}

function addUp(up: Command, { examples, json, runner }: Parts): void {
  up.option("--port <number>", "the port to listen on; 0 takes a free one (default: server.port, 4760)")
    .addOption(
      new Option("--demo [when]", "have a rehearsed agent answer: always, or only without a Claude login")
        .choices(DEMO_CHOICES)
        .preset("always"),
    )
    .addOption(
      new Option(
        "--as <role>",
        "in a fleet: only answer and stream, or only run turns and jobs (default: fleet.role, all)",
      ).choices(FLEET_ROLE_CHOICES),
    )
    .option("--label <name=value...>", "what environments can ask for, beside fleet.labels")
    .option("--max-sessions <number>", "sessions that are held at once at most (default: fleet.maxSessions, 20)")
    .option(
      "--machine <name>",
      "what this machine is called (default: TANDEM_MACHINE, fleet.machine, else the host's name)",
    )
    .option("--tenant <id...>", "take only sessions of these tenants (default: fleet.tenants, else all)")
    .option(
      "--advertise <url>",
      "where others of the fleet reach this process (default: fleet.advertise, else loopback)",
    )
    .addOption(json())
    .action((options: UpOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/up.ts")).up(context, options)),
    );
  examples(
    up,
    "tandem up",
    "tandem up --port 0 --json",
    "tandem up --demo",
    "tandem up --as worker --max-sessions 8 --label gpu=yes",
  );
}

function addRun(run: Command, { examples, json, runner }: Parts): void {
  run
    .argument("[prompt...]", "the prompt; standard input is added to it, or is it")
    .option("-a, --agent <id>", "an agent, by id or name (default: one that is made for this command)")
    .option("--cwd <dir>", "the folder to work in (default: this one)")
    .option("--worktree [name]", "in a git worktree of its own, on the branch tandem/NAME (default: the session's id)")
    .option("--resume <session>", "go on with a session, by id; `last` is the newest")
    .option("--fork <session>", "go on with a copy of a session, which itself stays as it is")
    .addOption(
      new Option("--permission-mode <mode>", "what it may do where no rule says anything").choices(MODE_CHOICES),
    )
    .option("-m, --model <name>", "another model than the agent's own; with --resume, from now on")
    .addOption(new Option("--effort <level>", "how hard the model tries").choices(EFFORT_CHOICES))
    .option("--max-turns <number>", "at most so many model requests")
    .option("--max-budget-usd <dollars>", "at most so much money for the session, at list price")
    .option("--json-schema <schema>", "end with an object that fits: a JSON Schema, or a file with one")
    .addOption(new Option("--output-format <format>", "what is printed (default: text)").choices(OUTPUT_FORMATS))
    .addOption(list("--allow <tools>", "tools that need not ask, such as bash,edit or server.tool or server.*"))
    .option("--allow-everything", "no call asks: commands run and files change without you")
    .addOption(json())
    .action((words: string[], options: RunOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/run.ts")).run(context, words, options)),
    );
  examples(
    run,
    'tandem run "What does this project do?"',
    'tandem run "Mend the failing test" --allow bash,edit',
    'tandem run "Mend the failing test" --worktree mend-test --allow bash,edit',
    'tandem run --resume last "And now the other one"',
    'tandem run --fork last --worktree "Try it another way"',
    `tandem run "Who wrote this?" --json-schema '{"type":"object","properties":{"name":{"type":"string"}}}'`,
    'git diff | tandem run "Review this diff" --output-format json | jq -r .result',
  );
}

function addSessions(sessions: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/sessions.ts");
  const sub = subcommandsOf(sessions);
  examples(
    sub("list", "List sessions, the newest first.")
      .option("--limit <number>", "at most so many", "20")
      .option("--agent <id>", "only those of an agent, by id or name")
      .addOption(new Option("--status <status>", "only those that are").choices(STATUS_CHOICES))
      .option("--all", "archived ones too")
      .addOption(json())
      .action((options: ListOptions, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem sessions list",
    "tandem sessions list --status running --json | jq -r '.sessions[].id'",
  );
  examples(
    sub("show", "Print what was said and done in a session.")
      .argument("<session>", "its id; `last` is the newest")
      .option("--limit <number>", "at most so many messages, from the end", "50")
      .addOption(json())
      .action((id: string, options: { limit: string }, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id, options)),
      ),
    "tandem sessions show last",
  );
  examples(
    sub("export", "Write a session as lines of JSON, with everything but uploaded files.")
      .argument("<session>", "its id; `last` is the newest")
      .option("-o, --output <file>", "a new file, for you alone (default: standard output)")
      .addOption(json())
      .action((id: string, options: { output?: string }, self: Command) =>
        runner(self, async (context) => (await load()).exportSession(context, id, options)),
      ),
    "tandem sessions export last -o session.jsonl",
    "tandem sessions export last | ssh other tandem sessions import",
  );
  examples(
    sub("import", "Read a session that `export` wrote, or conversations of Claude Code on this machine.")
      .argument(
        "[what...]",
        "a file that you trust (default: standard input); with --from-claude, ids of conversations",
      )
      .option("--from-claude", "read what Claude Code keeps in its own folder, which stays as it is")
      .option("--list", "with --from-claude: only show what is there")
      .option("--all", "with --from-claude: all of them")
      .option("--folder <dir>", "with --from-claude: only those that worked in this folder")
      .option("--since <when>", "with --from-claude: only those changed since a date, or within a span such as 7d")
      .option("--limit <number>", "with --from-claude: show at most so many", "20")
      .option("--as-new", "under a new id, beside the one that is there")
      .option("--cwd <dir>", "the folder that it works in from now on (default: this one; of Claude Code, its own)")
      .option("--with-waiting", "messages that were waiting are put to the model as soon as a server is up")
      .addOption(json())
      .action((what: string[], options: ImportSessionOptions, self: Command) =>
        runner(self, async (context) => {
          if (options.fromClaude)
            return (await import("./commands/import-claude.ts")).importClaude(context, what, options);
          return (await load()).importSession(context, what, options);
        }),
      ),
    "tandem sessions import session.jsonl",
    "tandem sessions import --from-claude --list",
    "tandem sessions import --from-claude --all --since 7d",
  );
  examples(
    sub("rm", "Delete sessions for good.")
      .argument("<session...>", "their ids")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((ids: string[], options: { yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).remove(context, ids, options)),
      ),
    "tandem sessions rm last",
  );
  examples(
    sub("prune", "Delete sessions that have not changed for long.")
      .option("--days <number>", "for so many days", "90")
      .option("--export <dir>", "write each into a file there first, with everything but uploaded files")
      .option("--tenant <id>", "those of a tenant: see `tandem tenants`")
      .option("--dry-run", "only say how many")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((options: PruneOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/prune-sessions.ts")).pruneSessions(context, options)),
      ),
    "tandem sessions prune --days 90 --export old",
    "tandem sessions prune --tenant acme --dry-run",
  );
}

function addAgents(agents: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/agents.ts");
  const sub = subcommandsOf(agents);
  const definition = (command: Command) =>
    command
      .option("--file <file>", "the whole definition, as YAML or JSON; other flags go over it")
      .option("--name <name>", "its name")
      .option("--description <text>", "what it is for")
      .option("-m, --model <name>", "its model")
      .option("-s, --system <text>", "what it is told beside Claude Code's own instructions")
      .option("--system-file <file>", "the same, from a file")
      .addOption(list("--allow <tools>", "tools that need not ask", TOOL_CHOICES))
      .addOption(list("--ask <tools>", "tools that ask each time", TOOL_CHOICES))
      .addOption(list("--without <tools>", "tools that it does not get", TOOL_CHOICES))
      .addOption(json());
  examples(
    sub("list", "List agents, the newest first.")
      .option("--all", "archived ones too")
      .addOption(json())
      .action((options: { all?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem agents list",
  );
  examples(
    sub("show", "Print an agent's definition.")
      .argument("<agent>", "its id or name")
      .option("--agent-version <number>", "an older version")
      .addOption(json())
      .action((name: string, options: { agentVersion?: string }, self: Command) =>
        runner(self, async (context) => (await load()).show(context, name, options)),
      ),
    "tandem agents show reviewer",
    "tandem agents show reviewer --json > reviewer.json",
  );
  examples(
    definition(sub("create", "Define a new agent.")).action((flags: AgentFlags, self: Command) =>
      runner(self, async (context) => (await load()).create(context, flags)),
    ),
    'tandem agents create --name reviewer --model opus --system "You review code." --without edit,write',
    "tandem agents create --file reviewer.yaml",
  );
  examples(
    definition(
      sub("update", "Change an agent: adds a version; sessions keep the one they began with.").argument(
        "<agent>",
        "its id or name",
      ),
    ).action((name: string, flags: AgentFlags, self: Command) =>
      runner(self, async (context) => (await load()).update(context, name, flags)),
    ),
    "tandem agents update reviewer --allow bash",
  );
  examples(
    sub("archive", "Retire an agent: no session can begin with it any more.")
      .argument("<agent>", "its id or name")
      .addOption(json())
      .action((name: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).archive(context, name)),
      ),
    "tandem agents archive reviewer",
  );
}

function addToken(token: Command, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/token.ts");
  const sub = subcommandsOf(token);
  examples(
    sub("create", "Make a token; its secret is printed once.")
      .argument("<name>", "whom it is for")
      .addOption(
        list(
          "--scope <scopes>",
          "what it may do: read, run sessions as well, or admin for all (default: run)",
          SCOPE_CHOICES,
        ),
      )
      .option("--tenant <id>", "whose it is: see `tandem tenants` (default: the operator's)")
      .addOption(json())
      .action((name: string, options: { scope?: ("read" | "run" | "admin")[]; tenant?: string }, self: Command) =>
        runner(self, async (context) => (await load()).create(context, name, options)),
      ),
    "tandem token create my-app",
    "tandem token create dashboard --scope read",
    "tandem token create ada --tenant acme --scope admin",
  );
  examples(
    sub("list", "List tokens, without their secrets.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).list(context))),
    "tandem token list",
  );
  examples(
    sub("revoke", "End a token.")
      .argument("<token>", "its id or name")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).revoke(context, id)),
      ),
    "tandem token revoke my-app",
  );
}

function addLogs(logs: Command, { examples, json, runner }: Parts): void {
  logs
    .option("-f, --follow", "go on with what is logged from now on, until Ctrl-C")
    .option("--session <id>", "only what is about a session")
    .addOption(new Option("--level <level>", "only what is at least so urgent").choices(LEVEL_CHOICES).default("info"))
    .option("-n, --lines <number>", "at most so many lines, from the end", "100")
    .addOption(json())
    .action((options: LogsOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/logs.ts")).logs(context, options)),
    );
  examples(logs, "tandem logs --follow", "tandem logs --level warn --json");
}

const subcommandsOf = (parent: Command) => (name: string, description: string) =>
  parent.command(name).description(description).helpOption("-h, --help", "print help");

/** An option that takes `a,b`, and may be given more than once. It does not take what follows: that may be the prompt. */
function list(flags: string, description: string, choices?: readonly string[]): Option {
  return new Option(flags, description).argParser((text: string, previous: string[] | undefined) => {
    const names = text.split(",").filter(Boolean);
    const wrong = choices && names.find((name) => !choices.includes(name));
    if (wrong !== undefined) throw new InvalidArgumentError(`There is no ${wrong}. Allowed: ${choices?.join(", ")}.`);
    return [...(previous ?? []), ...names];
  });
}
