import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../testing/claude-stage.ts";

/** A command that does not end, with a child that leaves its process group. */
export const ENDLESS = "setsid tail -f /dev/null & touch begun; tail -f /dev/null";

export const hasBegun = (folder: string): Promise<boolean> =>
  eventually(
    async () => existsSync(join(folder, "begun")),
    (begun) => begun,
  );

/** Pids of the running processes of such commands. */
export const endlessIn = (folder: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      const isHere = readlinkSync(`/proc/${pid}/cwd`) === folder;
      return isHere && readFileSync(`/proc/${pid}/comm`, "utf8") === "tail\n";
    } catch {
      return false;
    }
  });
