import { useNavigate, useParams } from "@tanstack/react-router";
import { Command } from "cmdk";
import { BookOpen } from "lucide-react";
import { type ReactNode, useState } from "react";
import { matchesFilter } from "../home/session-filter.ts";
import { togglePin } from "../state/pinned-sessions.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { settingsPagesOf } from "../settings/settings-pages.ts";
import { setTheme, THEMES } from "../state/theme.ts";
import { ago } from "../text/format.ts";
import { StateDot, stateOf } from "../ui/state-dot.tsx";
import { sessionAction } from "../state/open-dialogs.ts";
import { shortcutActions, groups, shownKey } from "../ui/keyboard/shortcuts.ts";
import { useContextHits } from "./use-context-hits.ts";

/** Maximum number of sessions; typing narrows them. */
const SHOWN = 30;

interface Entry {
  label: string;
  keys?: string;
  act: () => void;
}

/** Command palette: actions, sessions, context pages and settings. */
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
  const shortcuts = useLive(groups);
  const [words, setWords] = useState("");
  const known = useContextHits(words);
  const tenant = useOwnTenant();
  const open = sessions.get(openId ?? "");
  const found = [...sessions.values()]
    .filter((session) => matchesFilter(session, { q: words }))
    .sort((a, b) => b.updated_at.localeCompare(a.updated_at))
    .slice(0, SHOWN);
  const actions: [title: string, entries: Entry[]][] = [
    ...shortcuts.toReversed().map(({ title, keys }): [string, Entry[]] => [
      title,
      shortcutActions(keys).map(({ label, keys: [first], act }) => ({
        label,
        ...(first !== undefined && { keys: first }),
        act,
      })),
    ]),
    ...(open
      ? [
          [
            "This session",
            [
              { label: "Pin or unpin", act: () => togglePin(open.id) },
              { label: "Archive …", act: () => sessionAction.set({ kind: "archive", session: open }) },
              { label: "Delete for good …", act: () => sessionAction.set({ kind: "delete", session: open }) },
            ],
          ] satisfies [string, Entry[]],
        ]
      : []),
    [
      "Settings",
      settingsPagesOf(tenant).map(({ name, label }) => ({
        label,
        act: () => void navigate({ to: "/settings/$", params: { _splat: name } }),
      })),
    ],
    ["Theme", THEMES.map((name) => ({ label: `Theme: ${name}`, act: () => setTheme(name) }))],
  ];
  const run = (act: () => void) => () => {
    onOpenChange(false);
    act();
  };
  return (
    <Command.Dialog
      open={isOpen}
      onOpenChange={onOpenChange}
      label="Find anything"
      loop
      overlayClassName="fixed inset-0 z-40 animate-appear bg-black/40"
      contentClassName="fixed top-3 left-1/2 z-50 animate-appear w-[min(38rem,94vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-float sm:top-[12vh]"
    >
      <Command.Input
        value={words}
        onValueChange={setWords}
        placeholder="Sessions, pages, tables, actions, settings …"
        className="w-full border-b border-line bg-transparent px-4 py-3 text-base outline-none placeholder:text-ink-faint"
      />
      <Command.List className="max-h-[55vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-faint">
        <Command.Empty className="px-2 py-6 text-center text-ink-faint">Nothing goes by that.</Command.Empty>
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
          <Command.Group heading="Context" forceMount>
            {known.map(({ key, title, kind, path }) => (
              <Item
                key={key}
                value={`context ${key}`}
                isFound
                onSelect={run(() => void navigate({ to: "/context/$", params: { _splat: path } }))}
              >
                <BookOpen aria-hidden className="size-4 shrink-0 text-ink-faint" />
                <span className="truncate">{title}</span>
                <span className="ml-auto shrink-0 text-xs text-ink-faint">{kind}</span>
              </Item>
            ))}
          </Command.Group>
        )}
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
      </Command.List>
    </Command.Dialog>
  );
}

function Item({
  value,
  onSelect,
  isFound = false,
  children,
}: {
  value: string;
  onSelect: () => void;
  /** The server matched this entry, so the palette must not filter it by its label. */
  isFound?: boolean;
  children: ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      forceMount={isFound}
      onSelect={onSelect}
      className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-ink-soft data-[selected=true]:bg-raised data-[selected=true]:text-ink pointer-coarse:min-h-10"
    >
      {children}
    </Command.Item>
  );
}
