import { useNavigate } from "@tanstack/react-router";
import type { LiveLog } from "../live/live-log.ts";
import { sessionAction } from "../state/open-dialogs.ts";
import { useSession } from "../state/session-context.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { hasHistory } from "./transcript/message-actions.tsx";

/** Rewind, fork, compare and resend in the chat. Changes and History have the same keys for their own turn. */
export function ChatShortcuts({ log }: { log: LiveLog }) {
  const { id, title } = useSession();
  const session = { id, title: title ?? null };
  const navigate = useNavigate();
  const resend = (): void => {
    const message = log.messages.current.findLast((each) => each.role === "user" && hasHistory(each));
    if (message) sessionAction.set({ kind: "resend", session, message });
  };
  useShortcuts("Session", {
    r: ["Rewind", () => sessionAction.set({ kind: "rewind", session })],
    f: ["Fork", () => sessionAction.set({ kind: "fork", session })],
    c: ["Compare with another session", () => void navigate({ to: "/compare", search: { a: id } })],
    "shift+e": ["Edit and resend the last message", resend],
  });
  return null;
}
