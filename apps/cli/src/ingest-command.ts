import { type Command, Option } from "commander";
import type { IngestOptions } from "./commands/ingest.ts";
import type { Parts } from "./program.ts";

/** The command that reads documents. */
export function addIngestCommand(program: Command, heading: string, { examples, json, runner }: Parts): void {
  const ingest = program
    .command("ingest")
    .description("Read documents into the wiki: what is new or changed becomes a proposal.")
    .helpGroup(heading)
    .helpOption("-h, --help", "print help")
    .argument("[source...]", "names of sources (default: all of this project)")
    .option("--text <text>", "a text instead; - reads it from standard input")
    .addOption(
      new Option("--file <path>", "a file instead; may be given more than once").argParser(
        (path: string, all: string[] | undefined) => [...(all ?? []), path],
      ),
    )
    .option("--dry-run", "say what would be read, asked and about spent, and do nothing")
    .addOption(json())
    .action((names: string[], options: IngestOptions, self: Command) =>
      runner(self, async (context) => (await import("./commands/ingest.ts")).ingest(context, names, options)),
    );
  examples(
    ingest,
    "tandem ingest",
    "tandem ingest handbook --dry-run",
    'tandem ingest --text "Refunds are paid within 30 days."',
    "pbpaste | tandem ingest --text -",
    "tandem ingest --file minutes.pdf --json | jq '.proposals'",
  );
}
