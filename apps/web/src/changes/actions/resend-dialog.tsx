import type { Message, UserContent } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RewindPreview, useRewindDryRun } from "./rewind-preview.tsx";
import { messageText } from "../../text/message-text.ts";
import { TextAreaField } from "../../ui/field.tsx";
import { SelectField } from "../../ui/select.tsx";

const SCOPES = [
  { value: "both", label: "Files and conversation" },
  { value: "conversation", label: "Conversation only" },
] as const;
type Scope = (typeof SCOPES)[number]["value"];

/** Rewinds to before a message, then sends its edited text with the same attachments. */
export function ResendDialog({
  session,
  turn,
  message,
  onClose,
  onDone,
}: {
  session: string;
  /** Undefined if the message did not begin a turn. */
  turn: number | undefined;
  message: Message;
  onClose: () => void;
  onDone: () => void;
}) {
  const navigate = useNavigate();
  const [text, setText] = useState(() => messageText(message.parts));
  const [scope, setScope] = useState<Scope>("both");
  const params = { session_id: session };
  const preview = useRewindDryRun(session, turn, scope);
  const isForeign = (preview.data?.foreign.length ?? 0) > 0;
  const resend = useMutation({
    mutationFn: async () => {
      const files = message.parts.flatMap((part) => (part.type === "file" ? [part.file] : []));
      const content: UserContent[] = [...files, { type: "text", text: text.trim() }];
      await api.call("sessions.rewind", { params, body: { turn, scope, ...(isForeign && { force: true }) } });
      await api.call("sessions.events.send", {
        params,
        body: { events: [{ type: "user.message", content, tandem: { commands: true } }] },
      });
    },
    onSettled: onDone,
    onSuccess: () => {
      onClose();
      void navigate({ to: "/sessions/$session", params: { session }, search: {} });
    },
  });
  const isReady = text.trim() !== "" && preview.isSuccess && !preview.isFetching && !resend.isPending;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isReady) resend.mutate();
  };
  return (
    <Dialog
      onClose={onClose}
      title="Edit and resend"
      description="Rewinds to before this message, then sends the edited message."
      size="wide"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={isForeign ? "danger" : "primary"} disabled={!isReady} onClick={() => resend.mutate()}>
            {isForeign ? "Overwrite other changes and resend" : "Rewind and resend"} <Kbd keys="mod+enter" />
          </Button>
        </>
      }
    >
      {turn === undefined ? (
        <p className="text-ink-soft">
          This message did not start a turn, so there is no point to rewind to. Copy its text into a new message
          instead.
        </p>
      ) : (
        <div role="presentation" onKeyDown={onKeyDown} className="space-y-4">
          <TextAreaField label="Message" rows={5} value={text} onChange={setText} />
          <SelectField label="Restore" value={scope} onChange={setScope} options={SCOPES} />
          <Problem error={resend.error} />
          <RewindPreview dryRun={preview} />
        </div>
      )}
    </Dialog>
  );
}
