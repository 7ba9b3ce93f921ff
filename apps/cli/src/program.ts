import { Command, Option } from "commander";
import type { Registration, Runner } from "./commands/registration.ts";
import { EXIT_CODES } from "./exit-code.ts";

const START = "Getting started:";
const USE = "Using the model:";
const AGENTS = "Running agents:";
const KNOW = "Knowing your data:";
const LOOK = "Looking and changing:";
const TOOLS = "Tools:";

interface CommandEntry {
  name: string;
  heading: string;
  description: string;
  /** Has subcommands and does nothing by itself. */
  isGroup?: true;
  load: () => Promise<(command: Command, registration: Registration) => void>;
}

/** Every command, in the order of the help. Its file declares its options and its action. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    heading: START,
    description: "Watch the real Claude Code work on a rehearsed model; nothing is spent.",
    isGroup: true,
    load: async () => (await import("./commands/settings/demo.ts")).register,
  },
  {
    name: "setup",
    heading: START,
    description: "Choose who answers and who pays, and write tandem.yaml.",
    load: async () => (await import("./commands/settings/setup.ts")).register,
  },
  {
    name: "text",
    heading: USE,
    description: "Ask for text.",
    load: async () => (await import("./commands/model/text.ts")).register,
  },
  {
    name: "object",
    heading: USE,
    description: "Ask for a JSON object that fits a schema.",
    load: async () => (await import("./commands/model/object.ts")).register,
  },
  {
    name: "models",
    heading: USE,
    description: "List the models that the backend offers, what is known of them, and who uses which.",
    load: async () => (await import("./commands/model/models.ts")).register,
  },
  {
    name: "up",
    heading: AGENTS,
    description: "Start the server that the Anthropic SDKs and the page speak to.",
    load: async () => (await import("./commands/server/up.ts")).register,
  },
  {
    name: "open",
    heading: AGENTS,
    description: "Open the page of the server that is up.",
    load: async () => (await import("./commands/server/open.ts")).register,
  },
  {
    name: "run",
    heading: AGENTS,
    description: "Have an agent do something in this folder.",
    load: async () => (await import("./commands/sessions/run.ts")).register,
  },
  {
    name: "sessions",
    heading: AGENTS,
    description: "List, read, move and delete sessions.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/sessions.ts")).register,
  },
  {
    name: "agents",
    heading: AGENTS,
    description: "Define the agents that sessions run.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/agents.ts")).register,
  },
  {
    name: "commands",
    heading: AGENTS,
    description: "List the slash commands of a session.",
    load: async () => (await import("./commands/sessions/session-tools.ts")).registerCommands,
  },
  {
    name: "shell",
    heading: AGENTS,
    description: "Run a command in a session's folder; its output joins the conversation.",
    load: async () => (await import("./commands/sessions/session-tools.ts")).registerShell,
  },
  {
    name: "import",
    heading: AGENTS,
    description: "Take over rules, MCP servers, agents and commands of Claude Code's or opencode's files.",
    load: async () => (await import("./commands/settings/import.ts")).register,
  },
  {
    name: "convert",
    heading: AGENTS,
    description: "Turn what `claude --print` wrote into events, one line of JSON each.",
    load: async () => (await import("./commands/sessions/convert.ts")).register,
  },
  {
    name: "token",
    heading: AGENTS,
    description: "Make and revoke tokens of the server.",
    isGroup: true,
    load: async () => (await import("./commands/server/token.ts")).register,
  },
  {
    name: "logs",
    heading: AGENTS,
    description: "Read the server's log.",
    load: async () => (await import("./commands/server/logs.ts")).register,
  },
  {
    name: "approvals",
    heading: AGENTS,
    description: "See what agents ask, and answer it.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/approvals.ts")).register,
  },
  {
    name: "notify",
    heading: AGENTS,
    description: "Try who is told when a session waits, is done or has failed.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/notify.ts")).register,
  },
  {
    name: "budget",
    heading: AGENTS,
    description: "Show and limit what sessions spend.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/budget.ts")).register,
  },
  {
    name: "stop",
    heading: AGENTS,
    description: "Interrupt a session, or stop everything at once.",
    load: async () => (await import("./commands/server/stop.ts")).registerStop,
  },
  {
    name: "resume",
    heading: AGENTS,
    description: "Let everything go on after `tandem stop --all`.",
    load: async () => (await import("./commands/server/stop.ts")).registerResume,
  },
  {
    name: "diff",
    heading: AGENTS,
    description: "Show what a session has done to the files, with what its shell commands did.",
    load: async () => (await import("./commands/sessions/history.ts")).registerDiff,
  },
  {
    name: "rewind",
    heading: AGENTS,
    description: "Put a session's files and conversation where they stood before a turn.",
    load: async () => (await import("./commands/sessions/history.ts")).registerRewind,
  },
  {
    name: "fork",
    heading: AGENTS,
    description: "Begin a new session with the past of another.",
    load: async () => (await import("./commands/sessions/history.ts")).registerFork,
  },
  {
    name: "worktrees",
    heading: AGENTS,
    description: "See, merge, patch back and remove the worktrees of sessions.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/worktrees.ts")).register,
  },
  {
    name: "audit",
    heading: AGENTS,
    description: "See, export and verify who asked, what was allowed, what ran and what it cost.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/audit.ts")).register,
  },
  {
    name: "rules",
    heading: AGENTS,
    description: "Say what agents may do, must ask for, and may not do.",
    isGroup: true,
    load: async () => (await import("./commands/sessions/rules.ts")).register,
  },
  {
    name: "fleet",
    heading: AGENTS,
    description: "See which processes work on the database, what waits for them, and what was given up.",
    isGroup: true,
    load: async () => (await import("./commands/server/fleet.ts")).register,
  },
  {
    name: "tenants",
    heading: AGENTS,
    description: "Let others use this server who see nothing of each other, and limit what they take.",
    isGroup: true,
    load: async () => (await import("./commands/server/tenants.ts")).register,
  },
  {
    name: "acp",
    heading: AGENTS,
    description: "Be the agent of an editor: the Agent Client Protocol on stdin and stdout.",
    load: async () => (await import("./commands/server/acp.ts")).register,
  },
  {
    name: "stdio",
    heading: AGENTS,
    description: "Serve the whole API to the program that starts it: lines of JSON on stdin and stdout.",
    load: async () => (await import("./commands/server/stdio.ts")).register,
  },
  {
    name: "connections",
    heading: KNOW,
    description: "Name databases, and try whether they can be read.",
    isGroup: true,
    load: async () => (await import("./commands/context/connections.ts")).register,
  },
  {
    name: "scan",
    heading: KNOW,
    description: "Read a database into the catalogue: tables, descriptions, joins.",
    load: async () => (await import("./commands/context/scan.ts")).register,
  },
  {
    name: "ingest",
    heading: KNOW,
    description: "Read documents into the wiki: what is new or changed becomes a proposal.",
    load: async () => (await import("./commands/context/ingest.ts")).register,
  },
  {
    name: "proposals",
    heading: KNOW,
    description: "Review what is proposed for the context, and accept or reject it.",
    isGroup: true,
    load: async () => (await import("./commands/context/proposals.ts")).register,
  },
  {
    name: "remember",
    heading: KNOW,
    description: "Have something remembered, in your own words.",
    load: async () => (await import("./commands/context/remember.ts")).register,
  },
  {
    name: "memories",
    heading: KNOW,
    description: "Look at what is remembered, and change it.",
    isGroup: true,
    load: async () => (await import("./commands/context/memories.ts")).register,
  },
  {
    name: "context",
    heading: KNOW,
    description: "Search and show what is known.",
    isGroup: true,
    load: async () => (await import("./commands/context/context.ts")).register,
  },
  {
    name: "sql",
    heading: KNOW,
    description: "Ask a database with one statement that only reads.",
    load: async () => (await import("./commands/context/sql.ts")).register,
  },
  {
    name: "jobs",
    heading: KNOW,
    description: "Look at scans and other background work, and cancel it.",
    isGroup: true,
    load: async () => (await import("./commands/context/jobs.ts")).register,
  },
  {
    name: "mcp",
    heading: KNOW,
    description: "Serve what is known to an MCP client, on standard input and output.",
    load: async () => (await import("./commands/context/mcp.ts")).register,
  },
  {
    name: "joins",
    heading: KNOW,
    description: "Find what refers to what in a database, declared or not; no model is asked.",
    load: async () => (await import("./commands/context/joins.ts")).register,
  },
  {
    name: "status",
    heading: LOOK,
    description: "Show who answers, who pays, whether the login or key works, and what is up.",
    load: async () => (await import("./commands/settings/status.ts")).register,
  },
  {
    name: "credentials",
    heading: LOOK,
    description: "Show where credentials for Claude are, which are used, and who pays; no values.",
    load: async () => (await import("./commands/settings/credentials.ts")).register,
  },
  {
    name: "doctor",
    heading: LOOK,
    description: "Check everything, and say what mends what is wrong.",
    load: async () => (await import("./commands/settings/doctor.ts")).register,
  },
  {
    name: "config",
    heading: LOOK,
    description: "Show, change and explain tandem.yaml.",
    isGroup: true,
    load: async () => (await import("./commands/settings/config.ts")).register,
  },
  {
    name: "trust",
    heading: LOOK,
    description: "Let this folder's tandem.yaml, or with --folder what .claude brings, take effect.",
    load: async () => (await import("./commands/settings/trust.ts")).register,
  },
  {
    name: "rehearse",
    heading: TOOLS,
    description: "Stand in for the model's API, from a script or a recording.",
    isGroup: true,
    load: async () => (await import("./commands/settings/rehearse.ts")).register,
  },
  {
    name: "completion",
    heading: TOOLS,
    description: "Print a completion script for a shell.",
    load: async () => (await import("./commands/settings/completion.ts")).register,
  },
];

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
  for (const { name, heading, description, isGroup, load } of COMMANDS) {
    const command = program
      .command(name)
      .description(description)
      .helpGroup(heading)
      .helpOption("-h, --help", "print help");
    if (isGroup) command.helpCommand(false);
    if (isWanted(name)) (await load())(command, registration);
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
