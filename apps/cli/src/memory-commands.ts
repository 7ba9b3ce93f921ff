import { type Command, Option } from "commander";
import type { MemoryListOptions } from "./commands/memories.ts";
import type { RememberOptions } from "./commands/remember.ts";
import { MEMORY_SCOPE_CHOICES } from "./option-choices.ts";
import type { Parts } from "./program.ts";

/** The commands about what is remembered. */
export function addMemoryCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).helpGroup(heading).helpOption("-h, --help", "print help");
  examples(
    command("remember", "Have something remembered, in your own words.")
      .argument("[words...]", "one statement; standard input is added to it, or is it")
      .addOption(new Option("--scope <scope>", "for whom it holds").choices(MEMORY_SCOPE_CHOICES).default("project"))
      .option("--agent <name>", "only for this agent")
      .option("--expires <time>", "how long it holds: 12h, 90d, 6w, 1y or never", "never")
      .addOption(
        new Option("--tag <word>", "a word to find it by; may be given more than once").argParser(
          (tag: string, all: string[] | undefined) => [...(all ?? []), tag],
        ),
      )
      .option("--no-check", "do not ask the model whether it contradicts something")
      .addOption(json())
      .action((words: string[], options: RememberOptions, self: Command) =>
        runner(self, async (context) => (await import("./commands/remember.ts")).remember(context, words, options)),
      ),
    'tandem remember "Revenue excludes refunds"',
    'tandem remember --expires 90d --tag pricing "The spring discount is 12 percent"',
    'tandem remember --agent analyst "Prefer CTEs to subqueries"',
  );

  const memories = command("memories", "Look at what is remembered, and change it.").helpCommand(false);
  const load = () => import("./commands/memories.ts");
  const sub = (name: string, description: string) =>
    memories.command(name).description(description).helpOption("-h, --help", "print help");
  const one = (name: string, description: string) => sub(name, description).argument("<memory>", "its id");
  examples(
    sub("list", "List what is remembered, the newest first, and what contradicts it.")
      .addOption(new Option("--scope <scope>", "only what holds for these").choices(MEMORY_SCOPE_CHOICES))
      .option("--agent <name>", "only what holds for this agent alone")
      .option("--all", "expired ones too")
      .addOption(json())
      .action((options: MemoryListOptions, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem memories list",
    "tandem memories list --json | jq -r '.memories[].text'",
  );
  examples(
    one("show", "Print a memory, where it comes from, and beside it what contradicts it.")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id)),
      ),
    "tandem memories show mem_01K9Z",
  );
  examples(
    one("forget", "Forget it; that can be undone.")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).forget(context, id)),
      ),
    "tandem memories forget mem_01K9Z",
  );
  examples(
    one("keep", "Say how long it holds.")
      .option("--expires <time>", "12h, 90d, 6w, 1y or never", "never")
      .addOption(json())
      .action((id: string, options: { expires: string }, self: Command) =>
        runner(self, async (context) => (await load()).keep(context, id, options)),
      ),
    "tandem memories keep mem_01K9Z --expires 1y",
  );
  examples(
    sub("capture", "Have a session read now for what is worth remembering.")
      .argument("<session>", "its id")
      .addOption(json())
      .action((id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).capture(context, id)),
      ),
    "tandem memories capture sesn_01K9Z",
  );
}
