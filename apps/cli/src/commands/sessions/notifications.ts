import type { Invocation } from "../../invocation.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, writeResult, writeTable } from "../../terminal.ts";
import type { Command } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List the webhooks and the desktop, with their last delivery.").addOption(json()).action(runner(list)),
    "tandem notifications list",
  );
  examples(
    sub("test", "Send a test notification to every webhook and to the desktop.").addOption(json()).action(runner(test)),
    "tandem notifications test",
  );
}

const open = clientFor("tandem notifications");

async function list(invocation: Invocation): Promise<void> {
  await using client = await open(invocation);
  const targets = await client.notifications.list();
  const { bold, dim, bad } = styleFor(invocation.stdout);
  const rows = targets.map(({ target, on, last }) => [
    bold(printable(target)),
    dim(on.join(", ")),
    last === null
      ? dim("not sent yet")
      : last.delivered
        ? dim(`delivered ${ago(last.at)}`)
        : bad(`failed ${ago(last.at)}: ${printable(last.detail ?? "")}`),
  ]);
  await writeTable(
    invocation,
    { targets },
    rows,
    "No notifications are configured. Add webhooks or desktop under notify in tandem.yaml.",
  );
}

/** Sends a test to all notification targets. Fails if one delivery fails. */
async function test(invocation: Invocation): Promise<number> {
  await using client = await open(invocation);
  const deliveries = await client.notifications.test();
  const { good, bad, dim } = styleFor(invocation.stdout);
  const lines = deliveries.map(({ target, delivered, detail }) =>
    delivered
      ? `${good("✓")} ${printable(target)}`
      : `${bad("✗")} ${printable(target)}  ${dim(printable(detail ?? ""))}`,
  );
  await writeResult(invocation, { deliveries }, lines);
  return deliveries.every(({ delivered }) => delivered) ? 0 : 1;
}
