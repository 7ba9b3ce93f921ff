import { type Command, Option } from "commander";
import type { AllowOptions } from "./commands/approvals.ts";
import type { Parts } from "./program.ts";

const AFTER_PLAN = ["default", "acceptEdits", "bypassPermissions"];
const KEPT_FOR = ["user", "project", "agent"];

/** The commands about what waits for a person. */
export function addApprovalCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const group = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .helpGroup(heading)
      .helpOption("-h, --help", "print help")
      .helpCommand(false);
  const approvals = group("approvals", "See what agents ask, and answer it.");
  const load = () => import("./commands/approvals.ts");
  const sub = (name: string, description: string) =>
    approvals.command(name).description(description).helpOption("-h, --help", "print help");
  const one = (name: string, description: string) =>
    sub(name, description).argument("<approval>", "its id; `last` is the newest that waits");
  const listed = (self: Command) =>
    self.option("--session <id>", "only those of a session").option("--limit <number>", "at most so many", "20");

  examples(
    listed(sub("list", "List what waits for you, in all sessions, the newest first."))
      .addOption(json())
      .action((options: { session?: string; limit: string }, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem approvals list",
    "tandem approvals list --json | jq -r '.approvals[].id'",
  );
  examples(
    one("show", "Print one with its command, its diff, its plan or its questions, in full.")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id)),
      ),
    "tandem approvals show last",
  );
  examples(
    one("allow", "Let a call run, or a plan be carried out.")
      .option("--session", "and what is like it, for the rest of the session")
      .option("--always", "and what is like it, from now on: the rule is shown, and saved")
      .addOption(new Option("--for <whom>", "with --always: whose rule it is (default: project)").choices(KEPT_FOR))
      .option("--edit", "with another input, which you write in your editor")
      .option("--input <json>", "with this input instead")
      .addOption(new Option("--mode <mode>", "of a plan: the session's mode from now on").choices(AFTER_PLAN))
      .option("-y, --yes", "save the rule without a question")
      .addOption(json())
      .action((id: string, options: AllowOptions, self: Command) =>
        runner(self, async (context) => (await load()).allow(context, id, options)),
      ),
    "tandem approvals allow last",
    "tandem approvals allow last --always --for project",
    "tandem approvals allow last --mode acceptEdits",
  );
  examples(
    one("deny", "Turn a call or a plan down.")
      .option("-m, --message <text>", "what the agent is told")
      .addOption(json())
      .action((id: string, options: { message?: string }, self: Command) =>
        runner(self, async (context) => (await load()).deny(context, id, options)),
      ),
    'tandem approvals deny last --message "Not on the main branch"',
  );
  examples(
    one("answer", "Answer a question.")
      .argument("<answers...>", "NAME=ANSWER for each question; just the answer where there is one")
      .addOption(json())
      .action((id: string, words: string[], _options: object, self: Command) =>
        runner(self, async (context) => (await load()).answer(context, id, words)),
      ),
    'tandem approvals answer last "The blue one"',
    "tandem approvals answer last Colour=Blue Name=Ada",
  );
  examples(
    listed(sub("history", "List what was asked and how it ended, the newest first."))
      .addOption(json())
      .action((options: { session?: string; limit: string }, self: Command) =>
        runner(self, async (context) => (await load()).history(context, options)),
      ),
    "tandem approvals history",
  );

  const notify = group("notify", "Try who is told when a session waits, is done or has failed.");
  examples(
    notify
      .command("test")
      .description("Send a test to every webhook, and to the desktop.")
      .helpOption("-h, --help", "print help")
      .addOption(json())
      .action((_options: object, self: Command) =>
        runner(self, async (context) => (await import("./commands/notify.ts")).test(context)),
      ),
    "tandem notify test",
  );
}
