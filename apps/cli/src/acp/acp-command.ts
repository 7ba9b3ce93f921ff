import type { Command } from "commander";
import type { AcpOptions } from "../commands/acp.ts";
import type { Parts } from "../program.ts";

/** The agent for editors. */
export function addAcpCommand(
  program: Command,
  heading: string,
  { examples, runner }: Pick<Parts, "examples" | "runner">,
): void {
  const acp = program
    .command("acp")
    .description("Be the agent of an editor: the Agent Client Protocol on stdin and stdout.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .option("-a, --agent <name>", "the agent of new sessions, by name or id (default: that of `tandem run`)")
    .option("--v2", "ignored: the draft of version 2 is no longer spoken")
    .option("--setup", "set Tandem up in the terminal instead, as an editor does for its login")
    .action((options: AcpOptions, self: Command) =>
      runner(self, async (context) => (await import("../commands/acp.ts")).acp(context, options)),
    );
  examples(acp, "tandem acp", "tandem acp --agent reviewer", "tandem --project ~/src/shop acp");
}
