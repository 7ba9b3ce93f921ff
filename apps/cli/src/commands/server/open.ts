import type { Command } from "commander";
import { openPage } from "../../server/open-page.ts";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .option("--no-browser", "print the link without opening a browser")
    .option("--as <name>", "user name of the link, recorded with decisions (default: page)")
    .option("--tenant <id>", "sign in as a user of this tenant (see `tandem tenants`)")
    .addOption(json())
    .action(
      runner((invocation, options: { browser: boolean; as?: string; tenant?: string }) =>
        openPage(invocation, options),
      ),
    );
  examples(command, "tandem open", "tandem open --no-browser --as Ana", "tandem open --no-browser --tenant acme");
}
