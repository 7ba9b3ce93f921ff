import { join, resolve } from "node:path";
import { writtenPath, type JudgedCall } from "@tandem/policy";
import type { SessionRow } from "@tandem/storage";
import { isInside } from "@tandem/workspace";

/** The folders of read-only memory stores. */
export const readOnlyMounts = ({ folder, resources }: Pick<SessionRow, "folder" | "resources">): string[] =>
  resources.flatMap((resource) =>
    resource.type === "memory_store" && resource.access === "read_only" ? [join(folder, resource.tandem.path)] : [],
  );

/** Whether a call writes a file of a read-only mount. Changes by shell commands are discarded after the turn. */
export function isReadOnly(call: JudgedCall, row: Pick<SessionRow, "folder" | "resources">): boolean {
  const path = writtenPath(call);
  return path !== undefined && readOnlyMounts(row).some((mount) => isInside(mount, resolve(row.folder, path)));
}
