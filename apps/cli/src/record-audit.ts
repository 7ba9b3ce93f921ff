import type { AuditNote } from "@tandem/protocol";
import { openStore } from "@tandem/tandem/compose";
import type { Invocation } from "./invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";

/** Records a local command in the audit. Trust may be granted before a store can be opened, so a failed entry only warns. */
export async function recordAudit(invocation: Invocation, note: Omit<AuditNote, "actor">): Promise<void> {
  try {
    await using store = await openStore(invocation, await openProjectOrDefaults(invocation));
    await store.audit.append([{ ...note, actor: localActor() }]);
  } catch (error) {
    if (invocation.debug) invocation.stderr.write(`Could not write to the audit log: ${String(error)}\n`);
  }
}
