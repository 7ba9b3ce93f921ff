import { Command, Option } from "commander";
import { wordPositions } from "./aliases.ts";
import { COMMANDS, type CommandEntry } from "./command-tree.ts";
import { setExamples, subcommandsOf, type Registration } from "./commands/registration.ts";
import { EXIT_CODES } from "./exit-code.ts";
import type { Invocation } from "./invocation.ts";

/**
 * Creates the program with the names of all commands. Only the commands among `wanted` are loaded with their options: the
 * help of the program needs no more, and loading every command takes longer than most of them run.
 */
export async function createProgram(
  version: string,
  run: (command: Command, action: (invocation: Invocation) => Promise<number | void>) => Promise<void>,
  wanted: readonly string[] | "all" = "all",
): Promise<Command> {
  const listsAll = wanted === "all";
  const isHiddenFromHelp = new Set<unknown>();
  const program = new Command("tandem");
  program
    .description("Claude Code as an engine for other software.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .option("--project <dir>", "project folder (default: nearest with a tandem.yaml)")
    .option("--claude-path <file>", "use this Claude Code instead of the included one")
    .option("--debug", "print error details and stack traces")
    .configureHelp({
      showGlobalOptions: false,
      subcommandTerm: (command) => command.name(),
      subcommandDescription: (command) =>
        listsAll && command.parent === program && command.commands.length > 0
          ? `${command.description()} (${command.commands.map((child) => child.name()).join(", ")})`
          : command.description(),
      // `visibleCommands` would also hide the commands from "Did you mean".
      groupItems: (_all, visible, groupOf) =>
        Map.groupBy(
          visible.filter((item) => !isHiddenFromHelp.has(item)),
          groupOf,
        ),
    })
    .addHelpText("after", ({ command }) => (command.parent ? "" : listsAll ? fullNotes() : CORE_NOTES));

  const [, , ...rareOptions] = program.options;
  if (!listsAll) for (const option of rareOptions) isHiddenFromHelp.add(option);
  const registration: Registration = {
    examples: setExamples,
    json: () => new Option("--json", "print JSON, including errors"),
    runner: (action) =>
      function (...args) {
        return run(this, (invocation) => action(invocation, ...args));
      },
  };
  // A completion script and the full help list every command.
  const isWanted = (name: string): boolean =>
    wanted === "all" || wanted.includes(name) || wanted.includes("completion");
  const add = async (parent: Command, name: string, entry: CommandEntry): Promise<Command> => {
    const command = subcommandsOf(parent)(name, entry.description).helpCommand(false);
    if (!isWanted(name)) return command;
    (await entry.load()).register(command, registration);
    for (const [child, childEntry] of Object.entries(entry.commands ?? {})) await add(command, child, childEntry);
    return command;
  };
  for (const [heading, entries] of Object.entries(COMMANDS)) {
    for (const [name, entry] of Object.entries(entries)) {
      const command = (await add(program, name, entry)).helpGroup(heading);
      if (!listsAll && !entry.isCore) isHiddenFromHelp.add(command);
    }
  }
  return program;
}

/** The subcommand of a group that is called without one: the first of these that it has. */
const DEFAULT_SUBCOMMANDS = ["list", "status", "show"];

/** Adds the default subcommand to the arguments if they name only a group. */
export function addDefaultSubcommand(program: Command, args: readonly string[]): string[] {
  let command = program;
  const positions = wordPositions(args);
  for (const [index, at] of positions.entries()) {
    const child = command.commands.find((each) => each.name() === args[at]);
    if (!child) return [...args];
    command = child;
    if (index < positions.length - 1) continue;
    const isHelp = args.includes("--help") || args.includes("-h");
    const name = DEFAULT_SUBCOMMANDS.find((each) => child.commands.some((sub) => sub.name() === each));
    if (name !== undefined && !isHelp) return args.toSpliced(at + 1, 0, name);
  }
  return [...args];
}

const CORE_NOTES = `
Examples:
  $ tandem demo
  $ tandem run "What is in this folder?"

All commands: tandem help --all`;

function fullNotes(): string {
  const codes = Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}`);
  return `
Help on one command: tandem help COMMAND

Exit codes:
${codes.join("\n")}

Variables:
  TANDEM_PROJECT       project folder, as --project
  TANDEM_HOME          folder for Tandem's own data (default: ~/.tandem)
  DATABASE_URL         Postgres database for sessions, if storage.url is not set
  DATABASE_DIRECT_URL  the same database without a pooler, if storage.directUrl is not set
  NO_COLOR             disables colours`;
}
