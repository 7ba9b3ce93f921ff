import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Choice } from "../../ui/choice.tsx";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { type Turn, useCheckpoints } from "../changes-api.ts";
import { turnLabel } from "../turn-list.tsx";

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
  const form = useId();
  const [turn, setTurn] = useState(first === undefined ? "" : String(first));
  const [isWorktree, setWorktree] = useState(false);
  const [title, setTitle] = useState(`${source?.title ?? "Untitled"}, another way`);
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
    <Dialog
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title="Fork"
      description="A new session with the same agent and the same past. This one is not touched."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} look="primary" disabled={fork.isPending}>
            {fork.isPending ? "Forking …" : "Fork"}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="space-y-4"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          fork.mutate();
        }}
      >
        <Field label="It begins">
          {(ids) => (
            <Select
              {...ids}
              className="w-full"
              value={turn}
              onChange={setTurn}
              options={[
                { value: "", label: "where this one is now" },
                ...turns
                  .filter(({ rewound }) => !rewound)
                  .toReversed()
                  .map((one) => ({ value: String(one.turn), label: `before ${turnLabel(one)}` })),
              ]}
            />
          )}
        </Field>
        <fieldset>
          <legend className="mb-1 text-sm font-medium text-ink-soft">Where it works</legend>
          <div className="grid gap-1 sm:grid-cols-2">
            <Choice
              name={`${form}-where`}
              label="In the same folder"
              hint="With the files as they are now"
              isChosen={!isWorktree}
              onChoose={() => setWorktree(false)}
            />
            <Choice
              name={`${form}-where`}
              label="In a worktree of its own"
              hint="On a new branch, with the files as they were then"
              isChosen={isWorktree}
              onChoose={() => setWorktree(true)}
            />
          </div>
        </fieldset>
        <Field label="Title">
          {(ids) => (
            <TextInput {...ids} maxLength={512} value={title} onChange={(event) => setTitle(event.target.value)} />
          )}
        </Field>
        <Problem error={fork.error} />
      </form>
    </Dialog>
  );
}

/** Forks from the end of the session, unless the user picks another turn. */
export default function ForkFromEndDialog({ session, onClose }: { session: string; onClose: () => void }) {
  const { data } = useCheckpoints(session);
  return <ForkDialog session={session} turns={data?.turns ?? []} turn={undefined} onClose={onClose} />;
}
