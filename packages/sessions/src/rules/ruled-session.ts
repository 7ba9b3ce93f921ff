import { PERMISSION_MODES, RequestError, SESSION_METADATA, type PermissionMode } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

/** The facts of a session that decide about its calls. */
export function ruledSession(
  row: SessionRow | undefined,
  id: string,
  settings: { permissionMode?: PermissionMode },
): { folder: string; agentId: string; mode: PermissionMode | undefined } {
  if (!row) throw new RequestError("not_found", `There is no session ${id}.`);
  const own = row.metadata[SESSION_METADATA.permissionMode];
  const mode = PERMISSION_MODES.find((each) => each === own) ?? settings.permissionMode;
  return { folder: row.folder, agentId: row.agent.id, mode };
}
