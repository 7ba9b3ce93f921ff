import type { Command } from "commander";
import { OLD_COMMANDS, OLD_OPTIONS } from "../aliases.ts";

const WIDTH = 100;

const INTRODUCTION = `# The \`tandem\` command

\`tandem --help\` lists the most used commands, \`tandem help --all\` lists all, and \`tandem help COMMAND\` explains one.

- **Output.** Results go to standard output, everything else to standard error. With \`--json\`, results are JSON. Errors are
  then one line of JSON on standard error, \`{"error": {"code", "message", "fix"}}\`, and so are waits, \`{"wait": {"reason",
  "until", "attempt"}}\`. \`--output-format json\` and \`stream-json\` do the same. Colours and progress lines appear only on a
  terminal; \`NO_COLOR\` disables colours.
- **Errors.** An error names the problem and the next step. \`--debug\` adds the stack trace.
- **Ctrl-C** ends a command within a second and leaves no process behind; a second Ctrl-C ends it at once. \`tandem run\`
  first interrupts its turn. \`tandem up\` lets turns finish for as long as \`server.stopWithin\` allows.
- **Server.** Commands about agents and sessions use the server that \`tandem up\` has started, if it uses the same database.
  Otherwise they work on the same store in their own process. They need no \`tandem.yaml\`: every setting has a default.
- **Groups.** A group without a subcommand lists: \`tandem sessions\` is \`tandem sessions list\`.
- **Sessions.** Without a session id, a command uses the last session of this folder and names it on standard error. \`last\`
  is the newest session of all folders.
- **Short names.** \`sessions run\`, \`resume\`, \`stop\`, \`diff\`, \`rewind\` and \`fork\` do the same as the commands without
  \`sessions\`.
`;

/** Generates the reference of all commands from their help. `core` lists only the commands of `tandem --help`. */
export function cliReference(core: Command, all: Command): string {
  const section = (title: string, help: string): string => `## \`${title}\`\n\n\`\`\`text\n${help}\n\`\`\`\n`;
  return [
    INTRODUCTION,
    section("tandem", helpOf(core)),
    section("tandem help --all", helpOf(all)),
    ...all.commands.flatMap(leaves).map((command) => section(nameOf(command), helpOf(command))),
    oldNames(),
  ].join("\n");
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0
    ? [command]
    : // A group with arguments of its own is a command, too: `tandem sql`.
      [...(command.registeredArguments.length > 0 ? [command] : []), ...command.commands.flatMap(leaves)];

function oldNames(): string {
  const commands = Object.entries(OLD_COMMANDS).map(([from, to]) => `| \`tandem ${from}\` | \`tandem ${to}\` |`);
  const options = Object.entries(OLD_OPTIONS).flatMap(([command, names]) =>
    Object.entries(names).map(([from, to]) => `| \`tandem ${command} ${from}\` | \`tandem ${command} ${to}\` |`),
  );
  return `## Old names

These names of 0.1 work until 0.3. They print the new name on standard error, except with \`--json\`.

| old name | new name |
| --- | --- |
${[...commands, ...options].join("\n")}

\`tandem resume\` continued everything after \`tandem stop --all\`. That is now \`tandem stop --undo\`. Permission modes can
still be given as \`default\`, \`acceptEdits\` and \`bypassPermissions\`.
`;
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return help.trimEnd();
}
