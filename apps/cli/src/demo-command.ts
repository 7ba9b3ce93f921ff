import type { Command } from "commander";
import type { Parts } from "./program.ts";

/** The commands that show what there is, on a rehearsed model. */
export function addDemoCommand(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const demo = program
    .command("demo")
    .description("Watch the real Claude Code work on a rehearsed model; nothing is spent.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .addOption(json())
    .action((_options: object, self: Command) =>
      runner(self, async (context) => (await import("./commands/demo.ts")).demo(context)),
    );
  examples(demo, "tandem demo");
  const context = demo
    .command("context")
    .description("Watch a catalogue and a wiki being made of a sample database and documents; nothing is spent.")
    .helpOption("-h, --help", "print help")
    .argument("[folder]", "where to make the project, new or empty (default: a temporary folder)")
    .addOption(json())
    .action((folder: string | undefined, _options: object, self: Command) =>
      runner(self, async (given) => (await import("./demo/context/demo-context.ts")).demoContext(given, folder)),
    );
  examples(context, "tandem demo context", "tandem demo context ~/harbour-bikes");
}
