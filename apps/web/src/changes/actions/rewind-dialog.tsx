import type { RewindOutcome } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { Turn } from "../changes-api.ts";
import { RewindPreview, useRewindDryRun } from "./rewind-preview.tsx";
import { turnLabel } from "../turn-list.tsx";
import { SelectField } from "../../ui/select.tsx";

const SCOPES = [
  { value: "both", label: "Files and conversation" },
  { value: "files", label: "Files only" },
  { value: "conversation", label: "Conversation only" },
] as const;
type Scope = (typeof SCOPES)[number]["value"];

/** Shows a dry run before the rewind changes anything. */
export function RewindDialog({
  session,
  turns,
  turn: first,
  onClose,
  onDone,
}: {
  session: string;
  turns: readonly Turn[];
  turn: number | undefined;
  onClose: () => void;
  onDone: (outcome: RewindOutcome) => void;
}) {
  const goable = turns.filter(({ rewound }) => !rewound).toReversed();
  const [turn, setTurn] = useState(() => goable.find((one) => one.turn === first)?.turn ?? goable[0]?.turn);
  const [scope, setScope] = useState<Scope>("both");
  const preview = useRewindDryRun(session, turn, scope);
  const rewind = useMutation({
    mutationFn: (force: boolean) =>
      api.call("sessions.rewind", { params: { session_id: session }, body: { turn, scope, ...(force && { force }) } }),
    onSuccess: (outcome) => {
      onDone(outcome);
      onClose();
    },
  });
  const isForeign = (preview.data?.foreign.length ?? 0) > 0;
  return (
    <Dialog
      onClose={onClose}
      title="Rewind"
      description="Restores the session to the point before a turn. You can undo the rewind until you send the next message."
      size="wide"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={isForeign ? "danger" : "primary"}
            disabled={!preview.isSuccess || preview.isFetching || rewind.isPending}
            onClick={() => rewind.mutate(isForeign)}
          >
            {isForeign ? "Rewind and overwrite other changes" : "Rewind"}
          </Button>
        </>
      }
    >
      {goable.length === 0 ? (
        <p className="text-ink-soft">There is no turn to rewind to yet.</p>
      ) : (
        <div className="space-y-4">
          <div className="grid gap-3 sm:grid-cols-2">
            <SelectField
              label="Rewind to before"
              value={String(turn)}
              onChange={(value) => setTurn(Number(value))}
              options={goable.map((one) => ({ value: String(one.turn), label: turnLabel(one) }))}
            />
            <SelectField label="Restore" value={scope} onChange={setScope} options={SCOPES} />
          </div>
          <Problem error={rewind.error} />
          <RewindPreview dryRun={preview} />
        </div>
      )}
    </Dialog>
  );
}
