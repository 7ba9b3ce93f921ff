import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { openClient } from "../sessions/open-client.ts";
import { printable, styleFor, write } from "../terminal.ts";

/** Sends a test to everybody who is told of anything. Fails if one of them did not get it. */
export async function test(context: Context): Promise<number> {
  const project = await openProjectOrDefaults(context);
  await using client = await openClient(context, project, { command: "tandem notify" });
  const deliveries = await client.notifications.test();
  const { stdout, json } = context;
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
