import type { Command } from "commander";
import type { Registration } from "./commands/registration.ts";

/** One command: its file declares its options and its action, and is loaded only if the command is called. */
export interface CommandEntry {
  description: string;
  /** Listed by `tandem --help`. The others are listed by `tandem help --all`. */
  isCore?: true;
  /** Subcommands beside those that the command's own file declares. */
  commands?: Readonly<Record<string, CommandEntry>>;
  load: () => Promise<{ register: (command: Command, registration: Registration) => void }>;
}

/** Every command by heading and name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandEntry>>>> = {
  "Getting started:": {
    demo: {
      description: "Watch Claude Code work with a scripted model, for free.",
      isCore: true,
      load: () => import("./commands/settings/demo.ts"),
    },
    setup: {
      description: "Choose the model backend and write tandem.yaml.",
      isCore: true,
      load: () => import("./commands/settings/setup.ts"),
    },
    login: {
      description: "Log in to Claude with the included Claude Code.",
      isCore: true,
      load: async () => ({ register: (await import("./commands/settings/login.ts")).registerLogin }),
    },
    up: {
      description: "Start the server for the Anthropic SDKs and the page.",
      isCore: true,
      load: () => import("./commands/server/up.ts"),
    },
    open: {
      description: "Open the running server's page in the browser.",
      isCore: true,
      load: () => import("./commands/server/open.ts"),
    },
    tui: {
      description: "Open opencode's terminal UI on the running server.",
      load: () => import("./commands/server/tui.ts"),
    },
  },
  "Agents and sessions:": {
    run: {
      description: "Give an agent a task in this folder.",
      isCore: true,
      load: () => import("./commands/sessions/run.ts"),
    },
    resume: {
      description: "Continue a session with a new message.",
      isCore: true,
      load: () => import("./commands/sessions/resume.ts"),
    },
    sessions: {
      description: "List, show, export, import and remove sessions.",
      isCore: true,
      load: () => import("./commands/sessions/sessions.ts"),
      commands: {
        prune: {
          description: "Delete sessions without recent changes.",
          load: () => import("./commands/sessions/prune-sessions.ts"),
        },
        commands: {
          description: "List the slash commands of a session.",
          load: async () => ({ register: (await import("./commands/sessions/session-tools.ts")).registerCommands }),
        },
        shell: {
          description: "Run a shell command in a session's folder and add its output to the conversation.",
          load: async () => ({ register: (await import("./commands/sessions/session-tools.ts")).registerShell }),
        },
        worktrees: {
          description: "Show, merge, apply and remove the git worktrees of sessions.",
          load: () => import("./commands/sessions/worktrees.ts"),
        },
      },
    },
    approvals: {
      description: "List and answer approvals and questions.",
      isCore: true,
      load: () => import("./commands/sessions/approvals.ts"),
    },
    diff: {
      description: "Show the file changes of a session.",
      isCore: true,
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerDiff }),
    },
    rewind: {
      description: "Undo turns of a session: files and conversation.",
      isCore: true,
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerRewind }),
    },
    fork: {
      description: "Start a new session with the history of another.",
      load: async () => ({ register: (await import("./commands/sessions/history.ts")).registerFork }),
    },
    cassettes: {
      description: "Export sessions as cassettes, and replay, test, fork and compare them.",
      load: () => import("./commands/sessions/cassettes.ts"),
    },
    stop: {
      description: "Interrupt a session, or stop everything at once.",
      load: () => import("./commands/server/stop.ts"),
    },
    agents: {
      description: "Define the agents that sessions use.",
      load: () => import("./commands/agents/agents.ts"),
    },
    deployments: {
      description: "Run agents on a schedule.",
      load: () => import("./commands/agents/deployments.ts"),
    },
    skills: {
      description: "Upload, list, download and remove skills of agents.",
      load: () => import("./commands/agents/skills.ts"),
    },
    sandbox: {
      description: "Show the sandbox of sessions, and allow hosts in it.",
      load: () => import("./commands/sessions/sandbox.ts"),
    },
    rules: {
      description: "Define which tool calls are allowed, need approval or are denied.",
      load: () => import("./commands/sessions/rules.ts"),
    },
    budgets: {
      description: "Show and limit spending.",
      load: () => import("./commands/sessions/budgets.ts"),
    },
    environments: {
      description: "List environments, and create self-hosted ones and the keys of their workers.",
      load: () => import("./commands/agents/environments.ts"),
    },
    vaults: {
      description: "Store credentials for MCP servers and programs of sessions, encrypted.",
      load: () => import("./commands/agents/vaults.ts"),
    },
    webhooks: {
      description: "Add, test and watch the endpoints that are told of changes.",
      load: () => import("./commands/agents/webhooks.ts"),
    },
    triggers: {
      description: "List, add and remove triggers: signed deliveries that start runs of a deployment.",
      load: () => import("./commands/agents/triggers.ts"),
    },
    notifications: {
      description: "List and test desktop notifications and webhooks of version 0.1.",
      load: () => import("./commands/sessions/notifications.ts"),
    },
    audit: {
      description: "List, export and verify the audit log.",
      load: () => import("./commands/sessions/audit.ts"),
    },
    convert: {
      description: "Convert the output of `claude --print` to events, one JSON object per line.",
      load: () => import("./commands/sessions/convert.ts"),
    },
  },
  "Your data:": {
    context: {
      description: "Build and search the catalogue, wiki and memories.",
      isCore: true,
      load: () => import("./commands/context/context.ts"),
      commands: {
        scan: {
          description: "Read a database into the catalogue: tables, descriptions, joins.",
          load: () => import("./commands/context/scan.ts"),
        },
        ingest: {
          description: "Read documents into the wiki; new and changed pages become proposals.",
          load: () => import("./commands/context/ingest.ts"),
        },
        proposals: {
          description: "Review proposed changes to the context.",
          load: () => import("./commands/context/proposals.ts"),
        },
        remember: {
          description: "Save a memory in your own words.",
          load: () => import("./commands/context/remember.ts"),
        },
        memories: {
          description: "List, change and remove memories.",
          load: () => import("./commands/context/memories.ts"),
        },
        joins: {
          description: "Find the joins of a database, declared or not, without a model.",
          load: () => import("./commands/context/joins.ts"),
        },
        path: {
          description: "Show how two tables join, and what that does to rows and sums.",
          load: () => import("./commands/context/path.ts"),
        },
        jobs: {
          description: "List, follow and cancel scans and other background jobs.",
          load: () => import("./commands/context/jobs.ts"),
        },
        scrub: {
          description: "Remove values of the database from the context that scan.samples does not allow.",
          load: () => import("./commands/context/scrub.ts"),
        },
      },
    },
    metrics: {
      description: "Compute and check the metrics of the context.",
      isCore: true,
      load: () => import("./commands/context/metrics.ts"),
    },
    evals: {
      description: "Ask an agent questions with known answers and mark it.",
      load: () => import("./commands/context/evals.ts"),
    },
    sql: {
      description: "Run a read-only SQL query, with a verdict on its numbers.",
      load: () => import("./commands/context/sql.ts"),
    },
    connections: {
      description: "Add, test and remove database connections.",
      load: () => import("./commands/context/connections.ts"),
    },
  },
  "Health and settings:": {
    status: {
      description: "Show the backend, billing, login and running server.",
      isCore: true,
      load: () => import("./commands/settings/status.ts"),
    },
    doctor: {
      description: "Check the installation and print a fix for each problem.",
      isCore: true,
      load: () => import("./commands/settings/doctor.ts"),
    },
    config: {
      description: "Show, change and validate tandem.yaml.",
      load: () => import("./commands/settings/config.ts"),
    },
    trust: {
      description: "Trust this folder's tandem.yaml, or with --folder its .claude settings.",
      load: () => import("./commands/settings/trust.ts"),
    },
    folders: {
      description: "List, add and remove the folders that the server's sessions may work in.",
      load: () => import("./commands/server/folders.ts"),
    },
    logout: {
      description: "Remove Claude Code's login from this machine.",
      load: async () => ({ register: (await import("./commands/settings/login.ts")).registerLogout }),
    },
    credentials: {
      description: "Show which Claude credentials exist, which one is used and who is billed; never their values.",
      load: () => import("./commands/settings/credentials.ts"),
    },
    import: {
      description: "Import rules, MCP servers, agents and commands from Claude Code or opencode.",
      load: () => import("./commands/settings/import.ts"),
    },
  },
  "Server:": {
    logs: { description: "Print the server's log.", load: () => import("./commands/server/logs.ts") },
    tokens: {
      description: "Add, list and remove API tokens of the server.",
      load: () => import("./commands/server/tokens.ts"),
    },
    tenants: {
      description: "Add isolated tenants to this server and limit their use.",
      load: () => import("./commands/server/tenants.ts"),
    },
    fleet: {
      description: "Show the workers, the queue and failed runs of a fleet.",
      load: () => import("./commands/server/fleet.ts"),
    },
  },
  "One-off model calls:": {
    text: { description: "Generate text.", load: () => import("./commands/model/text.ts") },
    object: {
      description: "Generate a JSON object that matches a schema.",
      load: () => import("./commands/model/object.ts"),
    },
    models: {
      description: "List the backend's models and the role that uses each.",
      load: () => import("./commands/model/models.ts"),
    },
  },
  "For other programs:": {
    mcp: {
      description: "Serve the context to an MCP client on stdin and stdout.",
      load: () => import("./commands/context/mcp.ts"),
      commands: {
        servers: {
          description: "List the MCP servers that sessions have used, and their tools.",
          load: async () => ({ register: (await import("./commands/context/mcp-servers.ts")).registerServers }),
        },
        accept: {
          description: "Accept the current tool definitions of a server. Until then its calls need approval.",
          load: async () => ({ register: (await import("./commands/context/mcp-servers.ts")).registerAccept }),
        },
      },
    },
    acp: {
      description: "Serve an editor with the Agent Client Protocol on stdin and stdout.",
      load: () => import("./commands/server/acp.ts"),
    },
    stdio: {
      description: "Serve the whole API to the parent process: JSON lines on stdin and stdout.",
      load: () => import("./commands/server/stdio.ts"),
    },
    emulator: {
      description: "Run the Managed Agents API with a scripted model, for tests.",
      load: () => import("./commands/settings/emulator.ts"),
    },
    "crash-test": {
      description: "Test a server of this API with faults: kills, lost answers, full disks.",
      load: () => import("./commands/settings/crash-test.ts"),
    },
    rehearse: {
      description: "Replace the model's API with a script or a recording.",
      load: () => import("./commands/settings/rehearse.ts"),
    },
    completion: {
      description: "Print a shell completion script.",
      load: () => import("./commands/settings/completion.ts"),
    },
  },
};
