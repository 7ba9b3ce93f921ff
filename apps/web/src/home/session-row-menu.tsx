import { Archive, Copy, Ellipsis, GitFork, Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useLive } from "../live/live-value.ts";
import { sessionAction } from "../state/open-dialogs.ts";
import { boundKey, shownKey } from "../ui/keyboard/shortcuts.ts";
import { Button } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";
import { pinnedSessions, togglePin } from "../state/pinned-sessions.ts";

/** Actions for a session without opening it. */
export function SessionRowMenu({
  session,
  isArchived = false,
}: {
  session: { id: string; title: string | null };
  isArchived?: boolean;
}) {
  const isPinned = useLive(pinnedSessions).includes(session.id);
  const icon = "size-4 text-ink-faint";
  const ask = (kind: "rename" | "archive" | "delete" | "fork") => () => sessionAction.set({ kind, session });
  return (
    <Menu
      label="Session"
      items={[
        ...(isArchived
          ? []
          : [
              {
                label: "Rename",
                icon: <Pencil aria-hidden className={icon} />,
                keys: shownKey(boundKey("r")),
                act: ask("rename"),
              },
              {
                label: isPinned ? "Unpin" : "Pin",
                icon: isPinned ? <PinOff aria-hidden className={icon} /> : <Pin aria-hidden className={icon} />,
                keys: shownKey(boundKey("p")),
                act: () => togglePin(session.id),
              },
            ]),
        {
          label: "Fork …",
          icon: <GitFork aria-hidden className={icon} />,
          act: ask("fork"),
        },
        {
          label: "Copy id",
          icon: <Copy aria-hidden className={icon} />,
          act: () => void navigator.clipboard.writeText(session.id),
        },
        "line" as const,
        isArchived
          ? {
              label: "Delete permanently …",
              icon: <Trash2 aria-hidden className="size-4" />,
              isBad: true,
              act: ask("delete"),
            }
          : {
              label: "Archive …",
              icon: <Archive aria-hidden className={icon} />,
              keys: shownKey(boundKey("e")),
              act: ask("archive"),
            },
      ]}
    >
      <Button look="quiet" size="icon" aria-label={`Actions for ${session.title ?? "this session"}`}>
        <Ellipsis aria-hidden className="size-4" />
      </Button>
    </Menu>
  );
}
