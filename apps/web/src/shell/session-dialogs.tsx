import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { api } from "../api/client.ts";
import { markSeen } from "../state/last-seen.ts";
import { useLive } from "../live/live-value.ts";
import { Confirm } from "../ui/confirm.tsx";
import { type SessionAction, sessionAction } from "../state/open-dialogs.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useChange } from "../api/use-change.ts";
import { TextField } from "../ui/field.tsx";

const TurnDialogs = lazy(() => import("../changes/actions/turn-dialogs.tsx"));

/** The dialogs of a session, opened from any page. */
export default function SessionDialogs() {
  const act = useLive(sessionAction);
  const navigate = useNavigate();
  if (!act) return null;
  const { id, title } = act.session;
  const close = (): void => sessionAction.set(undefined);
  if (act.kind === "rename") return <Rename key={id} session={act.session} onClose={close} />;
  if (act.kind === "rewind" || act.kind === "fork" || act.kind === "resend")
    return (
      <Suspense fallback={null}>
        <TurnDialogs action={act} onClose={close} />
      </Suspense>
    );
  const isArchive = act.kind === "archive";
  return (
    <Confirm
      onClose={close}
      title={isArchive ? "Archive this session?" : "Delete this session permanently?"}
      verb={isArchive ? "Archive" : "Delete"}
      act={async () => {
        await (isArchive
          ? api.call("sessions.archive", { params: { session_id: id } })
          : api.call("sessions.delete", { params: { session_id: id } }));
        if (location.pathname === `/sessions/${id}`) await navigate({ to: "/" });
      }}
      reloads={["/v1/sessions"]}
    >
      <p className="mb-1 font-medium text-ink">{title ?? "Untitled"}</p>
      {isArchive
        ? "The session ends and stays readable under Archived. It cannot be resumed."
        : "Its conversation, checkpoints and uploaded files are deleted. Changes in its folder are kept."}
    </Confirm>
  );
}

function Rename({ session, onClose }: { session: SessionAction["session"]; onClose: () => void }) {
  const [title, setTitle] = useState(session.title ?? "");
  const save = useChange(
    undefined,
    async () => {
      const body = { title: title.trim() === "" ? null : title.trim() };
      // The user's own change must not mark the session as unread.
      markSeen(await api.call("sessions.update", { params: { session_id: session.id }, body }));
    },
    onClose,
  );
  return (
    <FormDialog onClose={onClose} size="narrow" title="Rename session" verb="Rename" action={save}>
      <TextField
        label="Title"
        value={title}
        maxLength={512}
        onChange={setTitle}
        onFocus={(event) => event.target.select()}
      />
    </FormDialog>
  );
}
