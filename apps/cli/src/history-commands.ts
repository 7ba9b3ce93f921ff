import type { Command } from "commander";
import type { DiffOptions, ForkOptions, RewindOptions } from "./commands/history.ts";
import type { Parts } from "./program.ts";

/** The commands about what became of a session's files and conversation. */
export function addHistoryCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/history.ts");
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .helpGroup(heading)
      .helpOption("-h, --help", "print help")
      .argument("<session>", "its id; `last` is the newest")
      .addOption(json());
  examples(
    command("diff", "Show what a session has done to the files, with what its shell commands did.")
      .option("--turns", "list the session's turns instead")
      .option("--turn <number>", "only one turn")
      .option("--from <checkpoint>", "from a checkpoint on")
      .option("--to <checkpoint>", "up to a checkpoint; `now` is how the files are at this moment")
      .option("--stat", "only which files, and how many lines")
      .action((id: string, options: DiffOptions, self: Command) =>
        runner(self, async (context) => (await load()).diff(context, id, options)),
      ),
    "tandem diff last",
    "tandem diff last --turns",
    "tandem diff last --turn 2 --stat",
    "tandem diff last > work.patch",
  );
  examples(
    command("rewind", "Put a session's files and conversation where they stood before a turn.")
      .option("--to <turn>", "the turn, by its number (default: the last one)")
      .option("--files", "only the files")
      .option("--conversation", "only the conversation")
      .option("--dry-run", "only show what would change")
      .option("--force", "overwrite what others have changed, too")
      .option("--undo", "take the last rewind back")
      .action((id: string, options: RewindOptions, self: Command) =>
        runner(self, async (context) => (await load()).rewind(context, id, options)),
      ),
    "tandem rewind last --dry-run",
    "tandem rewind last --to 3 --files",
    "tandem rewind last --undo",
  );
  examples(
    command("fork", "Begin a new session with the past of another.")
      .option("--at <turn>", "from before this turn, by its number (default: the end)")
      .option("--worktree", "in a git worktree of its own, with the files as they were then")
      .option("--title <text>", "its title (default: the same)")
      .action((id: string, options: ForkOptions, self: Command) =>
        runner(self, async (context) => (await load()).fork(context, id, options)),
      ),
    "tandem fork last",
    "tandem fork last --at 2 --worktree",
  );
}
