import type { Command } from "commander";
import type { StdioOptions } from "../commands/stdio.ts";
import type { Parts } from "../program.ts";

/** The API for the program that starts it. */
export function addStdioCommand(
  program: Command,
  heading: string,
  { examples, runner }: Pick<Parts, "examples" | "runner">,
): void {
  const stdio = program
    .command("stdio")
    .description("Serve the whole API to the program that starts it: lines of JSON on stdin and stdout.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .option("--schema", "print the JSON Schema of every line, and end")
    .action((options: StdioOptions, self: Command) =>
      runner(self, async (context) => (await import("../commands/stdio.ts")).stdio(context, options)),
    );
  examples(stdio, "tandem stdio --schema > stdio.schema.json", "tandem --project ~/src/shop stdio");
}
