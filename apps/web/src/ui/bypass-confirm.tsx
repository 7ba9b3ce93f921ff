import { type ReactNode, useState } from "react";
import { Confirm } from "./confirm.tsx";

/** Asks once before a session gets the mode that runs every call without approval. Render the returned dialog. */
export function useBypassConfirm(): [confirm: (act: () => void) => void, dialog: ReactNode] {
  const [act, setAct] = useState<() => void>();
  const dialog = act && (
    <Confirm
      onClose={() => setAct(undefined)}
      title="Bypass permissions?"
      verb="Bypass permissions"
      act={async () => act()}
    >
      The agent runs every command and edits every file without asking. Only calls that a rule denies are blocked. Use
      this in folders that you can throw away.
    </Confirm>
  );
  return [(next) => setAct(() => next), dialog];
}
