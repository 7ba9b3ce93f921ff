import type { AuditNote } from "@tandem/protocol";
import { openStore } from "@tandem/tandem/compose";
import type { Invocation } from "./invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";

/**
 * Enters what a command did on this machine, and no server knows of. Trust comes before anything else, also before there is
 * a store that can be opened: what cannot be entered stops nothing, and is said.
 */
export async function noteAudit(context: Invocation, note: Omit<AuditNote, "actor">): Promise<void> {
  try {
    await using store = await openStore(context, await openProjectOrDefaults(context));
    await store.audit.append([{ ...note, actor: localActor() }]);
  } catch (error) {
    if (context.debug) context.stderr.write(`Not in the audit: ${String(error)}\n`);
  }
}
