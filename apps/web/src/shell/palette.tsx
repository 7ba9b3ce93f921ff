import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { feed } from "../live/feed.ts";
import { useLive } from "../live/live-value.ts";
import { StateDot, stateOf } from "../ui/state-dot.tsx";
import { groups, shownKey } from "./shortcuts.ts";

export default function Palette({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  const navigate = useNavigate();
  const sessions = useLive(feed.sessions);
  const shortcuts = useLive(groups);
  const close = (then: () => void) => () => {
    onOpenChange(false);
    then();
  };
  const item =
    "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-ink-soft data-[selected=true]:bg-raised data-[selected=true]:text-ink";
  return (
    <Command.Dialog
      open={isOpen}
      onOpenChange={onOpenChange}
      label="Find anything"
      overlayClassName="fixed inset-0 z-40 bg-black/30"
      contentClassName="fixed top-[12vh] left-1/2 z-50 w-[min(38rem,94vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-float"
    >
      <Command.Input
        placeholder="Sessions, actions …"
        className="w-full border-b border-line bg-transparent px-4 py-3 outline-none placeholder:text-ink-faint"
      />
      <Command.List className="max-h-[55vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-faint">
        <Command.Empty className="px-2 py-6 text-center text-ink-faint">Nothing goes by that.</Command.Empty>
        {shortcuts.toReversed().map(({ title, keys }, index) => (
          <Command.Group key={`${title}-${index}`} heading={title}>
            {Object.entries(keys).map(([key, [label, act]]) => (
              <Command.Item key={key} value={`${title} ${label}`} onSelect={close(act)} className={item}>
                <span>{label}</span>
                <kbd className="ml-auto font-mono text-xs text-ink-faint">{shownKey(key)}</kbd>
              </Command.Item>
            ))}
          </Command.Group>
        ))}
        <Command.Group heading="Sessions">
          {[...sessions.values()]
            .sort((a, b) => b.updated_at.localeCompare(a.updated_at))
            .slice(0, 200)
            .map((session) => (
              <Command.Item
                key={session.id}
                value={`${session.title ?? ""} ${session.agent.name} ${session.folder} ${session.id}`}
                onSelect={close(() => void navigate({ to: "/sessions/$session", params: { session: session.id } }))}
                className={item}
              >
                <StateDot state={stateOf(session)} />
                <span className="truncate">{session.title ?? "Untitled"}</span>
                <span className="ml-auto shrink-0 truncate text-xs text-ink-faint">{session.agent.name}</span>
              </Command.Item>
            ))}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  );
}
