import { type Command, Option } from "commander";
import type { PlaceFlags, TestFlags } from "./commands/rules.ts";
import { MODE_CHOICES, RULE_ACTION_CHOICES } from "./option-choices.ts";
import type { Parts } from "./program.ts";

/** The commands about what agents may do without asking, must ask for, and may not do. */
export function addRuleCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const rules = program
    .command("rules")
    .description("Say what agents may do, must ask for, and may not do.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const load = () => import("./commands/rules.ts");
  const sub = (name: string, description: string) =>
    rules.command(name).description(description).helpOption("-h, --help", "print help");
  const whose = (self: Command) =>
    self
      .addOption(
        new Option("--scope <scope>", "yours, in all projects, or this project's").choices(["user", "project"]),
      )
      .option("--agent <id>", "of an agent, by id or name")
      .option("--session <id>", "of a session, by id; `last` is the newest");

  examples(
    whose(sub("list", "List rules: those of tandem.yaml, then the others by age."))
      .addOption(json())
      .action((flags: PlaceFlags, self: Command) =>
        runner(self, async (context) => (await load()).list(context, flags)),
      ),
    "tandem rules list",
    "tandem rules list --session last",
  );
  examples(
    whose(
      sub("add", "Add a rule; it counts for the next call (default: one of yours, in all projects).")
        .addArgument(rules.createArgument("<action>", "what becomes of such calls").choices(RULE_ACTION_CHOICES))
        .argument("<rule>", "a tool, and what of it: Bash(git push *), edit(secrets/**), WebFetch(*.example.com)"),
    )
      .option("--reason <text>", "why, for whoever meets it")
      .addOption(json())
      .action(
        (action: "allow" | "ask" | "deny", text: string, flags: PlaceFlags & { reason?: string }, self: Command) =>
          runner(self, async (context) => (await load()).add(context, action, text, flags)),
      ),
    'tandem rules add deny "Bash(rm)"',
    'tandem rules add allow "Bash(npm run test *)" --scope project',
    'tandem rules add ask "mcp__github__*" --agent reviewer --reason "Others see it"',
  );
  examples(
    sub("remove", "Remove rules.")
      .argument("<rule...>", "their ids")
      .addOption(json())
      .action((ids: string[], _options: object, self: Command) =>
        runner(self, async (context) => (await load()).remove(context, ids)),
      ),
    "tandem rules remove rule_01JAB",
  );
  examples(
    sub("test", "Say what would become of a call, and why; nothing is run.")
      .argument("<call>", "such as Bash(git push), Edit(src/a.ts), WebFetch(https://example.com/)")
      .addOption(new Option("--mode <mode>", "in this permission mode").choices(MODE_CHOICES))
      .option("--agent <id>", "for an agent, by id or name")
      .option("--session <id>", "in a session, by id; `last` is the newest")
      .option("--cwd <dir>", "in this folder (default: this one)")
      .addOption(json())
      .action((call: string, flags: TestFlags, self: Command) =>
        runner(self, async (context) => (await load()).test(context, call, flags)),
      ),
    'tandem rules test "Bash(git push)"',
    'tandem rules test "Bash(git status && rm -rf build)" --mode bypassPermissions',
    'tandem rules test "Edit(src/index.ts)" --agent reviewer',
  );
}
