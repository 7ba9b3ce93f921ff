import { useNavigate, useParams } from "@tanstack/react-router";
import { Command } from "cmdk";
import { BookOpen } from "lucide-react";
import { type ReactNode, useState } from "react";
import { matchesFilter } from "../home/session-filter.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { ago } from "../text/format.ts";
import { StateDot, stateOf } from "../ui/state-dot.tsx";
import { shownKey } from "../ui/keyboard/shortcuts.ts";
import { usePaletteActions } from "./palette-actions.ts";
import { useContextHits } from "./use-context-hits.ts";

/** Maximum number of sessions; typing narrows them. */
const SHOWN = 30;

/** Command palette: actions first, then sessions and context pages. It filters by itself, to know synonyms. */
export default function Palette({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  const navigate = useNavigate();
  const { session: openId } = useParams({ strict: false });
  const sessions = useLive(feed.sessions);
  const [words, setWords] = useState("");
  const known = useContextHits(words);
  const found = [...sessions.values()]
    .filter((session) => matchesFilter(session, { q: words }))
    .sort((a, b) => b.updated_at.localeCompare(a.updated_at))
    .slice(0, SHOWN);
  const actions = usePaletteActions(openId, words);
  const run = (act: () => void) => () => {
    onOpenChange(false);
    act();
  };
  return (
    <Command.Dialog
      open={isOpen}
      onOpenChange={onOpenChange}
      label="Search and commands"
      loop
      shouldFilter={false}
      overlayClassName="fixed inset-0 z-40 animate-appear bg-black/40"
      contentClassName="fixed top-3 left-1/2 z-50 animate-appear w-[min(38rem,94vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-float sm:top-[12vh]"
    >
      <Command.Input
        value={words}
        onValueChange={setWords}
        placeholder="Search sessions, pages, tables, actions, settings …"
        className="w-full border-b border-line bg-transparent px-4 py-3 text-base outline-none placeholder:text-ink-faint"
      />
      <Command.List className="max-h-[55vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-faint">
        <Command.Empty className="px-2 py-6 text-center text-ink-faint">No results.</Command.Empty>
        {actions.map(([title, entries], index) => (
          <Command.Group key={`${title}-${index}`} heading={title}>
            {entries.map(({ label, keys, act }, at) => (
              <Item key={at} value={`${title} ${label} ${index} ${at}`} onSelect={run(act)}>
                <span>{label}</span>
                {keys !== undefined && <kbd className="ml-auto font-mono text-xs text-ink-faint">{shownKey(keys)}</kbd>}
              </Item>
            ))}
          </Command.Group>
        ))}
        {found.length > 0 && (
          <Command.Group heading="Sessions">
            {found.map((session) => (
              <Item
                key={session.id}
                value={`${session.title ?? "untitled"} ${session.agent.name} ${session.folder} ${session.id}`}
                onSelect={run(() => void navigate({ to: "/sessions/$session", params: { session: session.id } }))}
              >
                <StateDot state={stateOf(session)} />
                <span className="truncate">{session.title ?? "Untitled"}</span>
                <span className="ml-auto shrink-0 text-xs text-ink-faint">
                  {session.agent.name}, {ago(session.updated_at)}
                </span>
              </Item>
            ))}
          </Command.Group>
        )}
        {known.length > 0 && (
          <Command.Group heading="Found in the context">
            {known.map(({ key, title, kind, path }) => (
              <Item
                key={key}
                value={`context ${key}`}
                onSelect={run(() => void navigate({ to: "/context/$", params: { _splat: path } }))}
              >
                <BookOpen aria-hidden className="size-4 shrink-0 text-ink-faint" />
                <span className="truncate">{title}</span>
                <span className="ml-auto shrink-0 text-xs text-ink-faint">{kind}</span>
              </Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command.Dialog>
  );
}

function Item({ value, onSelect, children }: { value: string; onSelect: () => void; children: ReactNode }) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-ink-soft data-[selected=true]:bg-raised data-[selected=true]:text-ink pointer-coarse:min-h-10"
    >
      {children}
    </Command.Item>
  );
}
