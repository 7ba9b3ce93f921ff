import type { Command } from "commander";
import type { Parts } from "../program.ts";

/** The commands about all processes on a database. */
export function addFleetCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const load = () => import("../commands/fleet.ts");
  const fleet = program
    .command("fleet")
    .description("See which processes work on the database, what waits for them, and what was given up.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const sub = (name: string, description: string, isDefault = false) =>
    fleet.command(name, { isDefault }).description(description).helpOption("-h, --help", "print help");
  examples(
    sub("status", "Show workers, what waits, what is held, which quotas are used up, and turns per minute.", true)
      .option("--watch", "again every two seconds, until Ctrl-C")
      .addOption(json())
      .action((options: { watch?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).status(context, options)),
      ),
    "tandem fleet status --watch",
    "tandem fleet status --json | jq '.queue[] | select(.served | not)'",
  );
  examples(
    sub("dead", "List runs that were given up after their last attempt.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).dead(context))),
    "tandem fleet dead",
  );
  examples(
    sub("requeue", "Send a run that was given up again, with all its attempts.")
      .argument("<key>", "the id of its session or job: see `tandem fleet dead`")
      .addOption(json())
      .action((key: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).requeue(context, key)),
      ),
    "tandem fleet requeue sesn_01JAB",
  );
  examples(
    sub("drain", "Have a worker take nothing more and hand over what it has.")
      .argument("<worker>", "its id, or the beginning of it: see `tandem fleet status`")
      .addOption(json())
      .action((worker: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).drain(context, worker)),
      ),
    "tandem fleet drain wrk_01JAB",
  );
}
