import { useNavigate } from "@tanstack/react-router";
import { SECTIONS } from "../context/context-route.ts";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { downloadSession, saveTestCase } from "../export/download-session.ts";
import { settingsPagesOf } from "../settings/settings-pages.ts";
import { sessionAction } from "../state/open-dialogs.ts";
import { togglePin } from "../state/pinned-sessions.ts";
import { signOut } from "../state/sign-in.ts";
import { setTheme, THEMES } from "../state/theme.ts";
import { groups, shortcutActions } from "../ui/keyboard/shortcuts.ts";
import { rankAction } from "./palette-search.ts";

export interface PaletteAction {
  label: string;
  keys?: string;
  act: () => void;
}

/** Every action by group: those of the current view and session first, then the global ones. */
export function usePaletteActions(openId: string | undefined, typed: string): [title: string, PaletteAction[]][] {
  const navigate = useNavigate();
  const shortcuts = useLive(groups);
  const tenant = useOwnTenant();
  const open = useLive(feed.sessions).get(openId ?? "");
  const all: [title: string, PaletteAction[]][] = [
    ...shortcuts.toReversed().map(({ title, keys }): [string, PaletteAction[]] => [
      title,
      shortcutActions(keys).map(({ label, keys: [first], act }) => ({
        label,
        ...(first !== undefined && { keys: first }),
        act,
      })),
    ]),
    ...(open ? [["This session", sessionActions(open)] satisfies [string, PaletteAction[]]] : []),
    [
      "Everywhere",
      [
        { label: "Go to decided requests", act: () => void navigate({ to: "/inbox", search: { view: "decided" } }) },
        { label: "Compare sessions", act: () => void navigate({ to: "/compare", search: {} }) },
        { label: "Open a test case report", act: () => void navigate({ to: "/cassettes" }) },
        { label: "Show archived sessions", act: () => void navigate({ to: "/", search: { archived: true } }) },
        { label: "Documentation", act: () => void window.open("/docs/", "_blank", "noopener") },
        { label: "Sign out", act: () => void signOut().then(() => location.assign("/")) },
      ],
    ],
    [
      "Settings",
      settingsPagesOf(tenant).map(({ name, label }) => ({
        label,
        act: () => void navigate({ to: "/settings/$", params: { _splat: name } }),
      })),
    ],
    [
      "Context",
      SECTIONS.filter((name) => name !== "search")
        .map((name) => ({
          label: name === "sql" ? "SQL" : name.charAt(0).toUpperCase() + name.slice(1),
          act: () => void navigate({ to: "/context/$", params: { _splat: name } }),
        }))
        .concat({
          label: "Query metrics",
          act: () => void navigate({ to: "/context/$", params: { _splat: "metrics/query" } }),
        }),
    ],
    ["Theme", THEMES.map((name) => ({ label: `Theme: ${name}`, act: () => setTheme(name) }))],
  ];
  return matching(merged(all), typed);
}

function sessionActions(session: { id: string; title: string | null }): PaletteAction[] {
  const title = session.title ?? "Untitled";
  return [
    { label: "Rewind", act: () => sessionAction.set({ kind: "rewind", session }) },
    { label: "Fork", act: () => sessionAction.set({ kind: "fork", session }) },
    { label: "Rename session", act: () => sessionAction.set({ kind: "rename", session }) },
    { label: "Pin or unpin", act: () => togglePin(session.id) },
    { label: "Export as Markdown", act: () => void downloadSession(session.id, title, "md") },
    { label: "Export events (JSON)", act: () => void downloadSession(session.id, title, "json") },
    { label: "Save as a test case", act: () => void saveTestCase(session.id, title) },
    {
      label: "Copy link",
      act: () => void navigator.clipboard.writeText(`${location.origin}/sessions/${session.id}`),
    },
    { label: "Archive …", act: () => sessionAction.set({ kind: "archive", session }) },
    { label: "Delete permanently …", act: () => sessionAction.set({ kind: "delete", session }) },
  ];
}

/** One group per title and one entry per label; the innermost view wins. */
function merged(all: [string, PaletteAction[]][]): [string, PaletteAction[]][] {
  const labels = new Set<string>();
  const byTitle = new Map<string, PaletteAction[]>();
  for (const [title, entries] of all) {
    const fresh = entries.filter(({ label }) => !labels.has(label));
    for (const { label } of fresh) labels.add(label);
    byTitle.set(title, [...(byTitle.get(title) ?? []), ...fresh]);
  }
  return [...byTitle];
}

function matching(all: [string, PaletteAction[]][], typed: string): [string, PaletteAction[]][] {
  if (typed.trim() === "") return all.filter(([, entries]) => entries.length > 0);
  const ranked = all.flatMap(([title, entries]) => {
    const found = entries.flatMap((entry) => {
      const rank = rankAction(entry.label, typed);
      return rank === undefined ? [] : [{ entry, rank }];
    });
    if (found.length === 0) return [];
    found.sort((a, b) => a.rank - b.rank);
    return [{ title, rank: found[0]!.rank, entries: found.map(({ entry }) => entry) }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ title, entries }) => [title, entries]);
}
