import type { Command } from "commander";
import type { Invocation } from "../../invocation.ts";
import { printable, writeResult } from "../../terminal.ts";
import { askTool, withKnowledge } from "../../with-knowledge.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .argument("<from>", "a table of the catalogue")
      .argument("<to>", "another table, or the same for a join with itself")
      .option("--via <table-or-column>", "a table, or a column as table.column, that the path must use")
      .option("--connection <name>", "only tables of this connection")
      .addOption(json())
      .action(
        runner((invocation, from: string, to: string, options: PathOptions) =>
          joinPath(invocation, { from, to, ...options }),
        ),
      ),
    "tandem context path payments order_lines",
    "tandem context path orders customers --via orders.billing_customer_id",
  );
}

interface PathOptions {
  via?: string;
  connection?: string;
}

/** Prints how two tables join, and what that does to rows and sums. */
async function joinPath(invocation: Invocation, input: PathOptions & { from: string; to: string }): Promise<void> {
  const { from, to, via, connection } = input;
  const { markdown, structured } = await withKnowledge(invocation, "tandem context", (knowledge) =>
    askTool(invocation, knowledge, "join_path", { from, to, via, connection }),
  );
  await writeResult(invocation, structured, [printable(markdown).trimEnd()]);
}
