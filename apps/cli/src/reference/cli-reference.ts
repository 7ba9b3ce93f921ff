import type { Command } from "commander";

const WIDTH = 100;

const INTRODUCTION = `# The \`tandem\` command

Results go to standard output, everything else to standard error. With \`--json\`, results are JSON and errors are one
line of JSON on standard error, \`{"error": {"code", "message", "fix"}}\`, and so are waits, \`{"wait": {"reason", "until",
"attempt"}}\`. Colours and moving lines appear on a terminal only, and colours not at all where \`NO_COLOR\` is set. An error
is one sentence and the next step; \`--debug\` adds the stack. Ctrl-C ends what is under way within a second and leaves no
process behind; a second one ends it at once. \`tandem run\` takes the time to interrupt its turn, and \`tandem up\` lets
turns end for as long as \`server.stopWithin\` says.

Commands about agents and sessions work on the server that \`tandem up\` has started, if it is up and on the same database;
otherwise in their own process, on the same store. They need no \`tandem.yaml\`: every setting has a default. With
\`--output-format json\` and \`stream-json\`, errors are JSON as with \`--json\`.
`;

/** Generates the reference of all commands from their help. */
export function cliReference(program: Command): string {
  const sections = leaves(program).map(
    (command) => `## \`${nameOf(command)}\`\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  return [INTRODUCTION, ...sections].join("\n");
}

/** The program, then its executable commands. */
function leaves(program: Command): Command[] {
  const runnable = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(runnable);
  return [program, ...program.commands.flatMap(runnable)];
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
