import { type Command, Option } from "commander";
import type { LimitFlags } from "./commands/budget.ts";
import type { Parts } from "./program.ts";

/** The commands about what sessions may spend, and the one that stops them all. */
export function addBudgetCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");
  const budget = command("budget", "Show and limit what sessions spend.").helpCommand(false);
  const load = () => import("./commands/budget.ts");
  const sub = (name: string, description: string, isDefault = false) =>
    budget.command(name, { isDefault }).description(description).helpOption("-h, --help", "print help");
  const limits = (self: Command) =>
    self
      .option("--usd <dollars>", "at most so much money, at list price, such as 2.50")
      .option("--tokens <number>", "at most so many tokens, read and written, cached ones included")
      .option("--seconds <number>", "at most so much time at work; waiting for people does not count")
      .option("--turns <number>", "at most so many turns")
      .option("--requests <number>", "at most so many answers of the model")
      .addOption(json());

  examples(
    sub("show", "Show what was spent, what is reserved, what is left, and who pays.", true)
      .argument(
        "[session]",
        "of one session, by its id; `last` is the newest (default: of the day, project and agents)",
      )
      .addOption(json())
      .action((session: string | undefined, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).show(context, session)),
      ),
    "tandem budget",
    "tandem budget show last",
    "tandem budget --json | jq '.budgets[] | select(.unit == \"usd\")'",
  );
  examples(
    limits(
      sub("set", "Limit what all sessions of a day, the project or an agent may take together.")
        .addArgument(budget.createArgument("<scope>", "what is limited").choices(["day", "project", "agent"]))
        .argument("[of]", "which: an agent's id or name, a day (default: each agent, this project, every day)"),
    )
      .addOption(new Option("--none", "no limit, whatever the config says"))
      .action((scope: "day" | "project" | "agent", of: string | undefined, flags: LimitFlags, self: Command) =>
        runner(self, async (context) => (await load()).set(context, scope, of, flags)),
      ),
    "tandem budget set day --usd 20",
    "tandem budget set agent reviewer --usd 5 --requests 500",
    "tandem budget set day --none",
  );
  examples(
    limits(
      sub("raise", "Give a session other limits of its own: what waited because of them goes on.").argument(
        "<session>",
        "its id; `last` is the newest",
      ),
    ).action((session: string, flags: LimitFlags, self: Command) =>
      runner(self, async (context) => (await load()).raise(context, session, flags)),
    ),
    "tandem budget raise last --usd 5",
  );

  const stopping = () => import("./commands/stop.ts");
  examples(
    command("stop", "Interrupt a session, or stop everything at once.")
      .argument("[session]", "its id; `last` is the newest")
      .option("--all", "every turn is interrupted, every process ended, and nothing begins until `tandem resume`")
      .option("--reason <text>", "why, for the logs of the sessions")
      .addOption(json())
      .action((session: string | undefined, options: { all?: boolean; reason?: string }, self: Command) =>
        runner(self, async (context) => (await stopping()).stop(context, session, options)),
      ),
    "tandem stop last",
    'tandem stop --all --reason "Something is in a loop"',
  );
  examples(
    command("resume", "Let everything go on after `tandem stop --all`.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await stopping()).resume(context))),
    "tandem resume",
  );
}
