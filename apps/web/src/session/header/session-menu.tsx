import { useNavigate } from "@tanstack/react-router";
import {
  Archive,
  Brain,
  Copy,
  Download,
  Ellipsis,
  FileJson,
  FlaskConical,
  GitCompare,
  GitFork,
  History,
  Link2,
  Pencil,
  Pin,
  PinOff,
} from "lucide-react";
import { useState } from "react";
import { pinnedSessions, togglePin } from "../../state/pinned-sessions.ts";
import { useLive } from "../../live/live-value.ts";
import { sessionAction } from "../../state/open-dialogs.ts";
import { boundKey, shownKey } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { exportMarkdown } from "../../export/export-markdown.ts";
import { downloadSession, saveTestCase } from "../../export/download-session.ts";

export function SessionMenu({ session, title: named }: { session: string; title: string | null }) {
  const title = named ?? "Untitled";
  const known = { id: session, title: named };
  const [words, setWords] = useState<{ text: string; isBad: boolean }>();
  const say = (text: string, isBad = false): void => {
    setWords({ text, isBad });
    setTimeout(() => setWords(undefined), isBad ? 8_000 : 2_000);
  };
  const attempt = (work: () => Promise<unknown>, done: string) => (): void => {
    void work().then(
      () => say(done),
      (error: unknown) => say(error instanceof Error ? error.message : String(error), true),
    );
  };
  const navigate = useNavigate();
  const isPinned = useLive(pinnedSessions).includes(session);
  const icon = "size-4 text-ink-faint";
  return (
    <>
      <output className={`min-w-0 truncate text-xs ${words?.isBad ? "text-bad" : "text-ink-faint"}`}>
        {words?.text}
      </output>
      <Menu
        label="Session"
        items={[
          {
            label: "Rename",
            icon: <Pencil aria-hidden className={icon} />,
            keys: shownKey(boundKey("shift+r")),
            act: () => sessionAction.set({ kind: "rename", session: known }),
          },
          {
            label: isPinned ? "Unpin" : "Pin",
            icon: isPinned ? <PinOff aria-hidden className={icon} /> : <Pin aria-hidden className={icon} />,
            act: () => togglePin(session),
          },
          {
            label: "Archive …",
            icon: <Archive aria-hidden className={icon} />,
            act: () => sessionAction.set({ kind: "archive", session: known }),
          },
          "line",
          {
            label: "Rewind …",
            icon: <History aria-hidden className={icon} />,
            keys: shownKey(boundKey("r")),
            act: () => sessionAction.set({ kind: "rewind", session: known }),
          },
          {
            label: "Fork …",
            icon: <GitFork aria-hidden className={icon} />,
            keys: shownKey(boundKey("f")),
            act: () => sessionAction.set({ kind: "fork", session: known }),
          },
          {
            label: "Compare …",
            icon: <GitCompare aria-hidden className={icon} />,
            keys: shownKey(boundKey("c")),
            act: () => void navigate({ to: "/compare", search: { a: session } }),
          },
          "line",
          {
            label: "Copy link",
            icon: <Link2 aria-hidden className={icon} />,
            act: attempt(() => navigator.clipboard.writeText(`${location.origin}/sessions/${session}`), "Copied"),
          },
          {
            label: "Copy as Markdown",
            icon: <Copy aria-hidden className={icon} />,
            act: attempt(async () => navigator.clipboard.writeText(await exportMarkdown(session, title)), "Copied"),
          },
          {
            label: "Memories from this session",
            icon: <Brain aria-hidden className={icon} />,
            act: () => void navigate({ to: "/context/$", params: { _splat: "memory" }, search: { session } }),
          },
          "line",
          {
            label: "Export as Markdown",
            icon: <Download aria-hidden className={icon} />,
            act: attempt(() => downloadSession(session, title, "md"), "Exported"),
          },
          {
            label: "Export events (JSON)",
            icon: <FileJson aria-hidden className={icon} />,
            act: attempt(() => downloadSession(session, title, "json"), "Exported"),
          },
          {
            label: "Save as a test case",
            icon: <FlaskConical aria-hidden className={icon} />,
            act: attempt(() => saveTestCase(session, title), "Saved"),
          },
        ]}
      >
        <Button look="quiet" size="icon" aria-label="Session actions">
          <Ellipsis aria-hidden className="size-4" />
        </Button>
      </Menu>
    </>
  );
}
