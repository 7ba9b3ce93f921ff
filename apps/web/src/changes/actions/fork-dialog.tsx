import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Choice } from "../../ui/choice.tsx";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import type { Turn } from "../changes-api.ts";
import { turnLabel } from "../turn-list.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { SelectField } from "../../ui/select.tsx";

/** Starts a new session from a point of this one. */
export function ForkDialog({
  session,
  turns,
  turn: first,
  onClose,
}: {
  session: string;
  turns: readonly Turn[];
  /** The fork begins before this turn; undefined forks at the end. */
  turn: number | undefined;
  onClose: () => void;
}) {
  const source = useLive(feed.sessions).get(session);
  const navigate = useNavigate();
  const group = useId();
  const [turn, setTurn] = useState(first === undefined ? "" : String(first));
  const [isWorktree, setWorktree] = useState(false);
  const [title, setTitle] = useState(`${source?.title ?? "Untitled"} (fork)`);
  const fork = useMutation({
    mutationFn: () =>
      api.call("sessions.fork", {
        params: { session_id: session },
        body: {
          ...(turn !== "" && { turn: Number(turn) }),
          ...(isWorktree && { worktree: true }),
          title: title.trim() === "" ? null : title.trim(),
        },
      }),
    onSuccess: ({ id }) => {
      onClose();
      void navigate({ to: "/sessions/$session", params: { session: id }, search: {} });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Fork"
      description="Starts a new session with the same agent and history. This session stays as it is."
      verb={fork.isPending ? "Forking …" : "Fork"}
      action={fork}
      className="space-y-4"
    >
      <SelectField
        label="Start from"
        value={turn}
        onChange={setTurn}
        options={[
          { value: "", label: "the current state" },
          ...turns
            .filter(({ rewound }) => !rewound)
            .toReversed()
            .map((one) => ({ value: String(one.turn), label: `before ${turnLabel(one)}` })),
        ]}
      />
      <fieldset>
        <legend className="mb-1 text-sm font-medium text-ink-soft">Working folder</legend>
        <div className="grid gap-1 sm:grid-cols-2">
          <Choice
            name={group}
            label="Same folder"
            hint="Uses the files as they are now"
            isChosen={!isWorktree}
            onChoose={() => setWorktree(false)}
          />
          <Choice
            name={group}
            label="New worktree"
            hint="On a new branch, with the files as they were at that point"
            isChosen={isWorktree}
            onChoose={() => setWorktree(true)}
          />
        </div>
      </fieldset>
      <TextField label="Title" maxLength={512} value={title} onChange={setTitle} />
    </FormDialog>
  );
}
