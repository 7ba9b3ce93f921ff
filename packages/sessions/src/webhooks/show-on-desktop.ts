import { execFile } from "node:child_process";
import { platform } from "node:os";
import { promisify } from "node:util";
import type { Notification } from "./legacy-notification.ts";

const run = promisify(execFile);
const DEADLINE_MS = 5_000;

/** The text is passed as arguments, so that it is never run as code. */
const SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

function commandFor(os: NodeJS.Platform, text: string): [string, string[]] | undefined {
  if (os === "darwin") return ["osascript", ["-e", SCRIPT, "Tandem", text]];
  if (os === "linux") return ["notify-send", ["--app-name=Tandem", "--", "Tandem", text]];
  return undefined;
}

/** Shows a notification on this machine's desktop, if it supports that. */
export async function showOnDesktop(
  { text }: Pick<Notification, "text">,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<{ type: "delivered" } | { type: "refused" | "failed"; why: string }> {
  const command = commandFor(platform(), text);
  if (!command) return { type: "refused", why: `there is no way to show notifications on ${platform()}` };
  try {
    await run(command[0], command[1], { timeout: DEADLINE_MS, env: { ...variables } });
    return { type: "delivered" };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? `${command[0]} is not installed` : (error as Error).message;
    return { type: isMissing ? "refused" : "failed", why };
  }
}
