import type { Message } from "@tandem/protocol";
import { useNavigate } from "@tanstack/react-router";
import { Copy, Ellipsis, GitCompare, GitFork, History, Link2, Pencil } from "lucide-react";
import type { ReactNode } from "react";
import { sessionAction, type SessionAction } from "../../state/open-dialogs.ts";
import { useSession } from "../../state/session-context.ts";
import { Menu } from "../../ui/menu.tsx";

/** Only a delivered message of the main conversation can be rewound to. */
export const hasHistory = ({ thread, delivery, rewound }: Message): boolean =>
  thread === null && rewound === undefined && delivery?.type !== "waiting" && delivery?.type !== "dropped";

/** Edit and resend, rewind, fork and compare, below a message. On touch screens one button opens a menu. */
export function MessageActions({ message, text }: { message: Message; text: string }) {
  const { id, title } = useSession();
  const navigate = useNavigate();
  const session = { id, title: title ?? null };
  const open = (action: SessionAction) => (): void => sessionAction.set(action);
  const icon = "size-4 text-ink-faint";
  const isOutcome = message.parts.some(({ type }) => type === "outcome");
  const turn = hasHistory(message)
    ? [
        ...(isOutcome
          ? []
          : [
              {
                label: "Edit and resend …",
                icon: <Pencil aria-hidden className={icon} />,
                act: open({ kind: "resend", session, message }),
              },
            ]),
        {
          label: "Rewind to before this message …",
          icon: <History aria-hidden className={icon} />,
          act: open({ kind: "rewind", session, message: message.id }),
        },
        {
          label: "Fork from before this message …",
          icon: <GitFork aria-hidden className={icon} />,
          act: open({ kind: "fork", session, message: message.id }),
        },
        {
          label: "Compare with another session …",
          icon: <GitCompare aria-hidden className={icon} />,
          act: () => void navigate({ to: "/compare", search: { a: id } }),
        },
        "line" as const,
      ]
    : [];
  return (
    <div className="-mt-1 flex items-center gap-0.5 opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100 pointer-coarse:opacity-100">
      {turn.flatMap((item) =>
        item === "line" ? (
          []
        ) : (
          <IconButton key={item.label} label={item.label} onClick={item.act}>
            {item.icon}
          </IconButton>
        ),
      )}
      <Menu
        label="Message"
        items={[
          ...turn,
          {
            label: "Copy text",
            icon: <Copy aria-hidden className={icon} />,
            act: () => void navigator.clipboard.writeText(text),
          },
          {
            label: "Copy link",
            icon: <Link2 aria-hidden className={icon} />,
            act: () =>
              void navigator.clipboard.writeText(
                `${location.origin}/sessions/${id}?part=${encodeURIComponent(message.id)}`,
              ),
          },
        ]}
      >
        <button
          type="button"
          aria-label="Message actions"
          title="Message actions"
          className="rounded p-1 text-ink-faint hover:bg-raised hover:text-ink pointer-coarse:p-2.5"
        >
          <Ellipsis aria-hidden className="size-4" />
        </button>
      </Menu>
    </div>
  );
}

function IconButton({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="rounded p-1 hover:bg-raised pointer-coarse:hidden"
    >
      {children}
    </button>
  );
}
