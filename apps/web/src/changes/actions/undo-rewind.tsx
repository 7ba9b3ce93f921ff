import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { api, ApiError } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { Turn } from "../changes-api.ts";

/** Offers to undo a rewind. This is possible until the next message. */
export function UndoRewind({ session, turns }: { session: string; turns: readonly Turn[] }) {
  const queries = useQueryClient();
  const [isOver, setOver] = useState(false);
  const undo = useMutation({
    mutationFn: (force: boolean) =>
      api.call("sessions.undoRewind", { params: { session_id: session }, body: { ...(force && { force }) } }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: [`/v1/sessions/${session}/checkpoints`] }),
        queries.invalidateQueries({ queryKey: [`/v1/sessions/${session}/diff`] }),
      ]),
  });
  if (isOver || turns.at(-1)?.rewound !== true) return null;
  const isRefused = undo.error instanceof ApiError && undo.error.status === 409;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2 text-sm">
      <span className="text-ink-soft">The session was rewound.</span>
      <span className="ml-auto flex gap-2">
        <Button size="small" disabled={undo.isPending} onClick={() => undo.mutate(false)}>
          <Undo2 aria-hidden className="size-4" /> Undo rewind
        </Button>
        {isRefused && (
          <Button size="small" look="danger" disabled={undo.isPending} onClick={() => undo.mutate(true)}>
            Overwrite other changes
          </Button>
        )}
        <Button size="small" look="quiet" onClick={() => setOver(true)}>
          Cancel
        </Button>
      </span>
      <Problem error={undo.error} className="basis-full" />
    </div>
  );
}
