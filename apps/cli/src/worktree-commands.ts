import type { Command } from "commander";
import type { Parts } from "./program.ts";

/** The commands about worktrees of sessions. */
export function addWorktreeCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/worktrees.ts");
  const worktrees = program
    .command("worktrees")
    .description("See, merge, patch back and remove the worktrees of sessions.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const sub = (name: string, description: string) =>
    worktrees.command(name).description(description).helpOption("-h, --help", "print help");
  const of = (name: string, description: string) =>
    sub(name, description).argument("<session>", "its id; `last` is the newest").addOption(json());
  examples(
    sub("list", "List the worktrees of sessions on this machine.")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, async (context) => (await load()).list(context))),
    "tandem worktrees list",
  );
  examples(
    of("show", "Show what was done in a worktree, and what of it is nowhere else.").action(
      (id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).show(context, id)),
    ),
    "tandem worktrees show last",
  );
  examples(
    of("diff", "Print all that was done in it, committed or not, as a patch for git apply.").action(
      (id: string, _options: object, self: Command) =>
        runner(self, async (context) => (await load()).diff(context, id)),
    ),
    "tandem worktrees diff last",
    "tandem worktrees diff last > work.patch",
  );
  examples(
    of("merge", "Merge its commits into the branch that it came from; conflicts and dirty checkouts are refused.")
      .option("--into <branch>", "another branch")
      .option("-m, --message <text>", "of the merge commit, where one is needed")
      .option("--dry-run", "only say what would happen")
      .option("--undo", "put the branch back where it stood before the last merge")
      .action(
        (id: string, options: { into?: string; message?: string; dryRun?: boolean; undo?: boolean }, self: Command) =>
          runner(self, async (context) => (await load()).merge(context, id, options)),
      ),
    "tandem worktrees merge last",
    "tandem worktrees merge last --undo",
  );
  examples(
    of("patch", "Apply all that was done in it to the files of the folder that it came from; nothing is staged.")
      .option("--dry-run", "only say what would change")
      .option("--undo", "take back what was applied last")
      .action((id: string, options: { dryRun?: boolean; undo?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).patch(context, id, options)),
      ),
    "tandem worktrees patch last --dry-run",
    "tandem worktrees patch last",
  );
  examples(
    of("remove", "Remove a worktree, unless work would be lost; its session is archived.")
      .option("--keep-branch", "commits and stashes that are nowhere else stay in the repository")
      .option("--discard", "what is not committed is lost")
      .option("-y, --yes", "do not ask")
      .action((id: string, options: { keepBranch?: boolean; discard?: boolean; yes?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).remove(context, id, options)),
      ),
    "tandem worktrees remove last",
    "tandem worktrees remove last --keep-branch",
  );
  examples(
    sub("prune", "Remove those of archived and deleted sessions that have no work which is nowhere else.")
      .option("--dry-run", "only say which")
      .addOption(json())
      .action((options: { dryRun?: boolean }, self: Command) =>
        runner(self, async (context) => (await load()).prune(context, options)),
      ),
    "tandem worktrees prune --dry-run",
  );
}
