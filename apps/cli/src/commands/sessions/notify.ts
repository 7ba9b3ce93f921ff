import type { Invocation } from "../../invocation.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { openClient } from "../../sessions/open-client.ts";
import { printable, styleFor, write } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .command("test")
      .description("Send a test to every webhook, and to the desktop.")
      .helpOption("-h, --help", "print help")
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (invocation) => test(invocation))),
    "tandem notify test",
  );
}

/** Sends a test to all notification targets. Fails if one delivery fails. */
export async function test(invocation: Invocation): Promise<number> {
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: "tandem notify" });
  const deliveries = await client.notifications.test();
  const { stdout, json } = invocation;
  const { good, bad, dim } = styleFor(stdout);
  const lines = json
    ? [JSON.stringify({ deliveries }, null, 2)]
    : deliveries.map(({ target, delivered, detail }) =>
        delivered
          ? `${good("✓")} ${printable(target)}`
          : `${bad("✗")} ${printable(target)}  ${dim(printable(detail ?? ""))}`,
      );
  await write(stdout, `${lines.join("\n")}\n`);
  return deliveries.every(({ delivered }) => delivered) ? 0 : 1;
}
