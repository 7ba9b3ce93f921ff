import { type Command, Option } from "commander";
import type { AuditListOptions, VerifyOptions } from "./commands/audit.ts";
import type { Parts } from "./program.ts";

/** The commands about who did what. */
export function addAuditCommands(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const load = () => import("./commands/audit.ts");
  const audit = program
    .command("audit")
    .description("See, export and verify who asked, what was allowed, what ran and what it cost.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .helpCommand(false);
  const sub = (name: string, description: string) =>
    audit.command(name).description(description).helpOption("-h, --help", "print help");
  examples(
    sub("list", "List what was done, the newest at the end.")
      .option("--limit <number>", "at most so many", "50")
      .option("--session <id>", "only of a session")
      .option("--actor <name>", "only by somebody: a token's name, local:USER, agent:NAME or tandem")
      .addOption(
        new Option("--kind <kinds>", "only such as call.requested,message.sent").argParser(
          (text: string, previous: string[] | undefined) => [...(previous ?? []), ...text.split(",").filter(Boolean)],
        ),
      )
      .option("--since <time>", "only from then on, such as 2026-01-31")
      .option("--until <time>", "only before then")
      .addOption(json())
      .action((options: AuditListOptions, self: Command) =>
        runner(self, async (context) => (await load()).list(context, options)),
      ),
    "tandem audit list",
    "tandem audit list --kind call.requested,call.resolved --since 2026-01-31",
  );
  examples(
    sub("export", "Write all of it as lines of JSON, with the head at the end.")
      .option("-o, --output <file>", "a new file, for you alone (default: standard output)")
      .addOption(json())
      .action((options: { output?: string }, self: Command) =>
        runner(self, async (context) => (await load()).exportAudit(context, options)),
      ),
    "tandem audit export -o audit.jsonl",
  );
  examples(
    sub("verify", "Go through its hashes; names the first entry that was changed, removed, moved or cut off.")
      .argument("[file]", "an exported audit (default: that of the store)")
      .addOption(
        new Option(
          "--against <head>",
          "SEQ:HASH that was noted, or an earlier export: the end must not be missing",
        ).argParser((text: string, previous: string[] | undefined) => [...(previous ?? []), text]),
      )
      .addOption(json())
      .action((file: string | undefined, options: VerifyOptions, self: Command) =>
        runner(self, async (context) => (await load()).verify(context, file, options)),
      ),
    "tandem audit verify",
    "tandem audit verify audit.jsonl",
    "tandem audit verify --against audit.jsonl",
  );
}
