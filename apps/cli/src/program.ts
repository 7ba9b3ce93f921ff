import { Command, Option } from "commander";
import { subcommandsOf, type Registration, type Runner } from "./commands/registration.ts";
import { EXIT_CODES } from "./exit-code.ts";

interface CommandEntry {
  description: string;
  /** Has subcommands and does nothing by itself. */
  isGroup?: true;
  load: () => Promise<{ register: (command: Command, registration: Registration) => void }>;
}

/** Every command by heading and name, in the order of the help. Its file declares its options and its action. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = {
  "Getting started:": {
    demo: {
      description: "Watch the real Claude Code work on a rehearsed model; nothing is spent.",
      isGroup: true,
      load: () => import("./commands/settings/demo.ts"),
    },
    setup: {
      description: "Choose who answers and who pays, and write tandem.yaml.",
      load: () => import("./commands/settings/setup.ts"),
    },
  },
  "Using the model:": {
    text: { description: "Ask for text.", load: () => import("./commands/model/text.ts") },
    object: {
      description: "Ask for a JSON object that fits a schema.",
      load: () => import("./commands/model/object.ts"),
    },
    models: {
      description: "List the models that the backend offers, what is known of them, and who uses which.",
      load: () => import("./commands/model/models.ts"),
    },
  },
  "Running agents:": {
    up: {
      description: "Start the server that the Anthropic SDKs and the page speak to.",
      load: () => import("./commands/server/up.ts"),
    },
    open: { description: "Open the page of the server that is up.", load: () => import("./commands/server/open.ts") },
    run: {
      description: "Have an agent do something in this folder.",
      load: () => import("./commands/sessions/run.ts"),
    },
    sessions: {
      description: "List, read, move and delete sessions.",
      isGroup: true,
      load: () => import("./commands/sessions/sessions.ts"),
    },
    agents: {
      description: "Define the agents that sessions run.",
      isGroup: true,
      load: () => import("./commands/sessions/agents.ts"),
    },
    commands: {
      description: "List the slash commands of a session.",
      load: async () => ({ register: (await import("./commands/sessions/session-tools.ts")).registerCommands }),
    },
    shell: {
      description: "Run a command in a session's folder; its output joins the conversation.",
      load: async () => ({ register: (await import("./commands/sessions/session-tools.ts")).registerShell }),
    },
    import: {
      description: "Take over rules, MCP servers, agents and commands of Claude Code's or opencode's files.",
      load: () => import("./commands/settings/import.ts"),
    },
    convert: {
      description: "Turn what `claude --print` wrote into events, one line of JSON each.",
      load: () => import("./commands/sessions/convert.ts"),
    },
    token: {
      description: "Make and revoke tokens of the server.",
      isGroup: true,
      load: () => import("./commands/server/token.ts"),
    },
    logs: { description: "Read the server's log.", load: () => import("./commands/server/logs.ts") },
    approvals: {
      description: "See what agents ask, and answer it.",
      isGroup: true,
      load: () => import("./commands/sessions/approvals.ts"),
    },
    notify: {
      description: "Try who is told when a session waits, is done or has failed.",
      isGroup: true,
      load: () => import("./commands/sessions/notify.ts"),
    },
    budget: {
      description: "Show and limit what sessions spend.",
      isGroup: true,
      load: () => import("./commands/sessions/budget.ts"),
    },
    stop: {
      description: "Interrupt a session, or stop everything at once.",
      load: async () => ({ register: (await import("./commands/server/stop.ts")).registerStop }),
    },
    resume: {
      description: "Let everything go on after `tandem stop --all`.",
      load: async () => ({ register: (await import("./commands/server/stop.ts")).registerResume }),
    },
    diff: {
      description: "Show what a session has done to the files, with what its shell commands did.",
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerDiff }),
    },
    rewind: {
      description: "Put a session's files and conversation where they stood before a turn.",
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerRewind }),
    },
    fork: {
      description: "Begin a new session with the past of another.",
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerFork }),
    },
    worktrees: {
      description: "See, merge, patch back and remove the worktrees of sessions.",
      isGroup: true,
      load: () => import("./commands/sessions/worktrees.ts"),
    },
    audit: {
      description: "See, export and verify who asked, what was allowed, what ran and what it cost.",
      isGroup: true,
      load: () => import("./commands/sessions/audit.ts"),
    },
    rules: {
      description: "Say what agents may do, must ask for, and may not do.",
      isGroup: true,
      load: () => import("./commands/sessions/rules.ts"),
    },
    fleet: {
      description: "See which processes work on the database, what waits for them, and what was given up.",
      isGroup: true,
      load: () => import("./commands/server/fleet.ts"),
    },
    tenants: {
      description: "Let others use this server who see nothing of each other, and limit what they take.",
      isGroup: true,
      load: () => import("./commands/server/tenants.ts"),
    },
    acp: {
      description: "Be the agent of an editor: the Agent Client Protocol on stdin and stdout.",
      load: () => import("./commands/server/acp.ts"),
    },
    stdio: {
      description: "Serve the whole API to the program that starts it: lines of JSON on stdin and stdout.",
      load: () => import("./commands/server/stdio.ts"),
    },
  },
  "Knowing your data:": {
    connections: {
      description: "Name databases, and try whether they can be read.",
      isGroup: true,
      load: () => import("./commands/context/connections.ts"),
    },
    scan: {
      description: "Read a database into the catalogue: tables, descriptions, joins.",
      load: () => import("./commands/context/scan.ts"),
    },
    ingest: {
      description: "Read documents into the wiki: what is new or changed becomes a proposal.",
      load: () => import("./commands/context/ingest.ts"),
    },
    proposals: {
      description: "Review what is proposed for the context, and accept or reject it.",
      isGroup: true,
      load: () => import("./commands/context/proposals.ts"),
    },
    remember: {
      description: "Have something remembered, in your own words.",
      load: () => import("./commands/context/remember.ts"),
    },
    memories: {
      description: "Look at what is remembered, and change it.",
      isGroup: true,
      load: () => import("./commands/context/memories.ts"),
    },
    context: {
      description: "Search and show what is known.",
      isGroup: true,
      load: () => import("./commands/context/context.ts"),
    },
    sql: {
      description: "Ask a database with one statement that only reads.",
      load: () => import("./commands/context/sql.ts"),
    },
    jobs: {
      description: "Look at scans and other background work, and cancel it.",
      isGroup: true,
      load: () => import("./commands/context/jobs.ts"),
    },
    mcp: {
      description: "Serve what is known to an MCP client, on standard input and output.",
      load: () => import("./commands/context/mcp.ts"),
    },
    joins: {
      description: "Find what refers to what in a database, declared or not; no model is asked.",
      load: () => import("./commands/context/joins.ts"),
    },
  },
  "Looking and changing:": {
    status: {
      description: "Show who answers, who pays, whether the login or key works, and what is up.",
      load: () => import("./commands/settings/status.ts"),
    },
    credentials: {
      description: "Show where credentials for Claude are, which are used, and who pays; no values.",
      load: () => import("./commands/settings/credentials.ts"),
    },
    doctor: {
      description: "Check everything, and say what mends what is wrong.",
      load: () => import("./commands/settings/doctor.ts"),
    },
    config: {
      description: "Show, change and explain tandem.yaml.",
      isGroup: true,
      load: () => import("./commands/settings/config.ts"),
    },
    trust: {
      description: "Let this folder's tandem.yaml, or with --folder what .claude brings, take effect.",
      load: () => import("./commands/settings/trust.ts"),
    },
  },
  "Tools:": {
    rehearse: {
      description: "Stand in for the model's API, from a script or a recording.",
      isGroup: true,
      load: () => import("./commands/settings/rehearse.ts"),
    },
    completion: {
      description: "Print a completion script for a shell.",
      load: () => import("./commands/settings/completion.ts"),
    },
  },
};

/**
 * The program with all commands by name. Only the commands among `wanted` are loaded with their options: the help of the
 * program needs no more, and loading every command takes longer than most of them run.
 */
export async function createProgram(
  version: string,
  runner: Runner,
  wanted: readonly string[] | "all" = "all",
): Promise<Command> {
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

  const registration: Registration = {
    examples: (command, ...lines) =>
      command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`),
    json: () => new Option("--json", "print JSON, errors included"),
    runner,
  };
  // A completion script lists the options of every command.
  const isWanted = (name: string): boolean =>
    wanted === "all" || wanted.includes(name) || wanted.includes("completion");
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    for (const [name, { description, isGroup, load }] of Object.entries(commands)) {
      const command = subcommandsOf(program)(name, description).helpGroup(heading);
      if (isGroup) command.helpCommand(false);
      if (isWanted(name)) (await load()).register(command, registration);
    }
  }
  return program;
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
