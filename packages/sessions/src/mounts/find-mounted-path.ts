import { join } from "node:path";
import { FILE_TOOLS, type JudgedCall } from "@tandem/policy";
import type { SessionRow } from "@tandem/storage";
import { isInside } from "@tandem/workspace";
import { hasMounts } from "./describe-mounts.ts";
import { inMounts, OUTPUTS, UPLOADS } from "./mount-path.ts";

type Mounted = Pick<SessionRow, "id" | "folder" | "resources">;

const FIELDS = new Set([...Object.values(FILE_TOOLS).map(({ field }) => field), "command"]);

/**
 * Why a call that uses a path of the hosted service cannot run; undefined if it names none. The path would be another place
 * on this machine, and its files would be lost. The reason names the real path, so that the model can repeat the call.
 */
export function findMountedPath({ mcpServer, input }: JudgedCall, row: Mounted): string | undefined {
  if (mcpServer !== undefined || !hasMounts(row)) return undefined;
  const texts = [...FIELDS].map((name) => input[name]).filter((value) => typeof value === "string");
  const found = mountsOfSession(row).find(([mount]) => texts.some((text) => names(text, mount)));
  return found && `${found[0]} is at ${found[1]} on this machine. Repeat the call with that path.`;
}

function mountsOfSession({ id, folder, resources }: Mounted): [mount: string, path: string][] {
  const own = resources.flatMap(({ mount_path: mount, tandem }): [string, string][] =>
    tandem && mount.startsWith("/") ? [[mount, join(folder, tandem.path)]] : [],
  );
  const given = [OUTPUTS, UPLOADS].map((mount): [string, string] => [mount, join(folder, inMounts(mount, id))]);
  // In a container, the session's folder can itself be below /workspace.
  return [...own, ...given].filter(([mount]) => !isInside(mount, folder) && !isInside(folder, mount));
}

/** Whether a text has this path or one below it, as a path of its own. */
function names(text: string, mount: string): boolean {
  for (let at = text.indexOf(mount); at !== -1; at = text.indexOf(mount, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + mount.length] ?? " "];
    if (!/[\w./-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}
