import { type Command, Option } from "commander";
import type { ProposalListOptions } from "./commands/proposals.ts";
import { PROPOSAL_STATE_CHOICES } from "./option-choices.ts";
import type { Parts } from "./program.ts";

/** The commands about what is proposed for the context. */
export function addProposalCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const proposals = program
    .command("proposals")
    .description("Review what is proposed for the context, and accept or reject it.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const load = () => import("./commands/proposals.ts");
  const sub = (name: string, description: string) =>
    proposals.command(name).description(description).helpOption("-h, --help", "print help");
  const one = (name: string, description: string) =>
    sub(name, description).argument("<proposal>", "its id; `last` is the newest that is open");

  examples(
    sub("list", "List what waits for a decision, the newest first.")
      .addOption(new Option("--state <state>", "those that are (default: open)").choices(PROPOSAL_STATE_CHOICES))
      .option("--all", "decided ones too")
      .option("--limit <number>", "at most so many", "20")
      .addOption(json())
      .action((options: ProposalListOptions, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem proposals list",
    "tandem proposals list --json | jq -r '.proposals[].id'",
  );
  examples(
    one("show", "Print a proposal as a diff, and what each part of it rests on.")
      .option("--all", "with what is decided already")
      .addOption(json())
      .action((id: string, options: { all?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id, options)),
      ),
    "tandem proposals show last",
  );
  examples(
    one("accept", "Write it into the context, wholly or in part.")
      .argument("[hunks...]", "numbers of hunks, such as 1 3-5 (default: all that are open)")
      .option("-y, --yes", "also what is held or in quarantine, without a question")
      .addOption(json())
      .action((id: string, hunks: string[], options: { yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).accept(context, id, hunks, options)),
      ),
    "tandem proposals accept last",
    "tandem proposals accept last 1 3-5",
  );
  examples(
    one("reject", "Turn it down, wholly or in part; it is not proposed again.")
      .argument("[hunks...]", "numbers of hunks, such as 1 3-5 (default: all that are open)")
      .option("--reason <text>", "why")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, hunks: string[], options: { reason?: string; yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).reject(context, id, hunks, options)),
      ),
    'tandem proposals reject last 2 --reason "That was last year"',
  );
  examples(
    one("edit", "Change a proposed file in your editor (EDITOR) before you accept it.")
      .argument("[path]", "the file, if there is more than one")
      .option("--file <file>", "take the new text from a file instead")
      .addOption(json())
      .action((id: string, path: string | undefined, options: { file?: string }, self: Command) =>
        runner(self, async (context) => (await load()).edit(context, id, path, options)),
      ),
    "tandem proposals edit last wiki/refunds.md",
  );
  examples(
    one("answer", "Answer a question that a proposal asks.")
      .argument("<question>", "its number")
      .argument("<answer...>", "the answer, in words")
      .addOption(json())
      .action((id: string, question: string, words: string[], _options: object, self: Command) =>
        runner(self, async (context) => (await load()).answer(context, id, question, words)),
      ),
    'tandem proposals answer last 1 "The handbook is right"',
  );
  examples(
    one("undo", "Take back what was accepted of a proposal; it is not proposed again.")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).undo(context, id, options)),
      ),
    "tandem proposals undo last",
  );
}
