import { useQueryClient } from "@tanstack/react-query";
import type { SessionAction } from "../../state/open-dialogs.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useCheckpoints } from "../changes-api.ts";
import { ForkDialog } from "./fork-dialog.tsx";
import { ResendDialog } from "./resend-dialog.tsx";
import { RewindDialog } from "./rewind-dialog.tsx";

type TurnAction = Extract<SessionAction, { kind: "rewind" | "fork" | "resend" }>;

/** Rewind, fork, and edit-and-resend, opened from any page for the turn of one message. */
export default function TurnDialogs({ action, onClose }: { action: TurnAction; onClose: () => void }) {
  const session = action.session.id;
  const queries = useQueryClient();
  const { data, error } = useCheckpoints(session);
  if (!data) {
    return error ? (
      <Dialog onClose={onClose} title="Rewind and fork" size="narrow">
        <Problem error={error} />
      </Dialog>
    ) : null;
  }
  const { turns } = data;
  const message = typeof action.message === "object" ? action.message.id : action.message;
  const turn = turns.find(({ message_id }) => message_id === message)?.turn;
  const refresh = (): void => void queries.invalidateQueries({ queryKey: [`/v1/sessions/${session}/checkpoints`] });
  switch (action.kind) {
    case "rewind":
      return <RewindDialog session={session} turns={turns} turn={turn} onClose={onClose} onDone={refresh} />;
    case "fork":
      return <ForkDialog session={session} turns={turns} turn={turn} onClose={onClose} />;
    case "resend":
      return <ResendDialog session={session} turn={turn} message={action.message} onClose={onClose} onDone={refresh} />;
  }
}
