import type { RewindOutcome } from "@tandem/protocol";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import type { Turn } from "../changes-api.ts";
import { RewindPreview } from "./rewind-preview.tsx";
import { turnLabel } from "../turn-list.tsx";

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
  const path = `/v1/sessions/${session}/rewind`;
  const preview = useQuery({
    queryKey: [path, { turn, scope }],
    queryFn: () =>
      api.call("sessions.rewind", { params: { session_id: session }, body: { turn, scope, dry_run: true } }),
    enabled: turn !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
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
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
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
            <Field label="Rewind to before">
              {(ids) => (
                <Select
                  {...ids}
                  className="w-full"
                  value={String(turn)}
                  onChange={(value) => setTurn(Number(value))}
                  options={goable.map((one) => ({ value: String(one.turn), label: turnLabel(one) }))}
                />
              )}
            </Field>
            <Field label="Restore">
              {(ids) => <Select {...ids} className="w-full" value={scope} onChange={setScope} options={SCOPES} />}
            </Field>
          </div>
          <Problem error={rewind.error} />
          <Problem error={preview.error} onRetry={() => void preview.refetch()} />
          {preview.data && <RewindPreview outcome={preview.data} />}
          {preview.isLoading && <p className="text-sm text-ink-faint">Checking what would change …</p>}
        </div>
      )}
    </Dialog>
  );
}
