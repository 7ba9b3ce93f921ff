import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { BookOpen, Inbox, LayoutGrid, Search, Settings, Sparkles, WifiOff } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState, useEffect } from "react";
import { DemoBar } from "../demo/demo-bar.tsx";
import { feed } from "../live/session-feed.ts";
import { useLive } from "../live/live-value.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { ApprovalNotifier } from "./approval-notifier.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { Announcer } from "./announcer.tsx";
import { EVERYWHERE, useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { SessionList } from "./session-list.tsx";
import { KillSwitch } from "./kill-switch.tsx";
import { openNewSession } from "../state/new-session.ts";
import { isPageOutdated } from "../live/newer-page.ts";
import { Button } from "../ui/button.tsx";
import { Overlays } from "./overlays.tsx";
import { isShortcutsSheetOpen, isStopDialogOpen } from "../state/open-dialogs.ts";
import { useMarkSeen } from "../state/last-seen.ts";

const Palette = lazy(() => import("./palette.tsx"));

/** The layout around every page: navigation, session list and banners. */
export function Shell() {
  const navigate = useNavigate();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  useShortcuts(EVERYWHERE, {
    "mod+k": ["Search and commands", () => setPaletteOpen(true)],
    n: ["New session", openNewSession],
    "?": ["Keyboard shortcuts", () => isShortcutsSheetOpen.set(true)],
    "g h": ["Go to sessions", () => void navigate({ to: "/" })],
    "g i": ["Go to inbox", () => void navigate({ to: "/inbox" })],
    "g c": ["Go to context", () => void navigate({ to: "/context/$", params: { _splat: "" } })],
    "g s": ["Go to settings", () => void navigate({ to: "/settings/$", params: { _splat: "" } })],
    "x x": ["Stop everything (asks first)", () => isStopDialogOpen.set(true)],
  });
  useMarkSeen();

  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)_auto] md:grid-cols-[15rem_minmax(0,1fr)] md:grid-rows-[minmax(0,1fr)]">
      <a
        href="#main"
        className="absolute left-2 top-2 z-50 -translate-y-16 rounded bg-accent px-3 py-1.5 text-on-accent focus:translate-y-0"
      >
        Skip to content
      </a>
      <aside className="hidden min-h-0 flex-col border-r border-line bg-surface md:flex">
        <div className="flex items-center gap-2 px-3 pt-3 pb-2">
          <img src="/icon.svg" alt="" className="size-6" />
          <span className="font-semibold">Tandem</span>
          <button
            type="button"
            onClick={() => setPaletteOpen(true)}
            className="ml-auto flex items-center gap-1.5 rounded border border-line px-1.5 py-0.5 text-xs text-ink-faint hover:bg-raised"
          >
            Search <Kbd keys="mod+k" />
          </button>
        </div>
        <OwnName />
        <nav aria-label="Main" className="px-2 pb-2">
          <NavItems />
        </nav>
        <SessionList />
      </aside>
      <div className="flex min-h-0 min-w-0 flex-col">
        <DemoBar />
        <ConnectionBanner />
        <NewerPageBanner />
        <KillSwitch />
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <nav
        aria-label="Main"
        className="flex justify-around border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        <NavItems isCompact />
        <button
          type="button"
          onClick={() => setPaletteOpen(true)}
          className="flex flex-1 flex-col items-center gap-0.5 py-2 text-xs text-ink-soft"
        >
          <Search aria-hidden className="size-4" />
          Search
        </button>
      </nav>
      {isPaletteOpen && (
        <Suspense fallback={null}>
          <Palette isOpen onOpenChange={setPaletteOpen} />
        </Suspense>
      )}
      <Overlays />
      <Announcer />
      <ApprovalNotifier />
    </div>
  );
}

/** The tenant's name, hidden for the operator. */
function OwnName() {
  const { name, is_operator } = useOwnTenant();
  if (is_operator) return null;
  return (
    <p className="truncate px-4 pb-2 text-sm text-ink-soft" title={name}>
      {name}
    </p>
  );
}

function NavItems({ isCompact = false }: { isCompact?: boolean }) {
  const waiting = useWaiting();
  const items: { to: string; label: string; icon: ReactNode; count?: number }[] = [
    { to: "/", label: "Sessions", icon: <LayoutGrid aria-hidden className="size-4" /> },
    { to: "/inbox", label: "Inbox", icon: <Inbox aria-hidden className="size-4" />, count: waiting },
    { to: "/context", label: "Context", icon: <BookOpen aria-hidden className="size-4" /> },
    { to: "/settings", label: "Settings", icon: <Settings aria-hidden className="size-4" /> },
  ];
  return items.map(({ to, label, icon, count = 0 }) => (
    <Link
      key={to}
      to={to}
      activeOptions={{ exact: to === "/" }}
      className={
        isCompact
          ? "relative flex flex-1 flex-col items-center gap-0.5 py-2 text-xs text-ink-soft data-[status=active]:text-accent"
          : "flex items-center gap-2 rounded-md px-2 py-1 text-ink-soft hover:bg-raised data-[status=active]:bg-raised data-[status=active]:text-ink"
      }
    >
      {icon}
      <span>{label}</span>
      {count > 0 && (
        <span
          className={`rounded-full bg-wait-soft px-1.5 text-xs font-medium text-wait ${isCompact ? "absolute top-1 left-1/2 translate-x-2" : "ml-auto"}`}
        >
          {count}
          <span className="sr-only"> need you</span>
        </span>
      )}
    </Link>
  ));
}

function useWaiting(): number {
  const sessions = useLive(feed.sessions);
  return [...sessions.values()].reduce((count, { waiting_for }) => count + waiting_for.length, 0);
}

/** Offers to reload after a server upgrade. The open page keeps working. */
function NewerPageBanner() {
  if (!useLive(isPageOutdated)) return null;
  return (
    <div className="flex items-center gap-2 bg-accent-soft px-4 py-1 text-sm">
      <Sparkles aria-hidden className="size-4 shrink-0 text-accent" />
      <output className="min-w-0 flex-1">The server has a new version of this page. Your drafts are kept.</output>
      <Button size="small" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  );
}

/** Short interruptions show no banner. */
const PATIENCE_MS = 2_000;

/** Warns that the data may be stale. Drafts are kept, and the stream resumes without a gap. */
function ConnectionBanner() {
  const connection = useLive(feed.connection);
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (connection !== "lost") {
      setLong(false);
      return;
    }
    const timer = setTimeout(() => setLong(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [connection]);
  if (connection !== "lost" || !isLong) return null;
  return (
    <div className="flex items-center gap-2 bg-wait-soft px-4 py-1.5 text-sm text-wait">
      <WifiOff aria-hidden className="size-4 shrink-0" />
      <p>
        Cannot reach the server. Reconnecting; this page may be out of date. If the server is stopped, run{" "}
        <code className="font-mono">tandem up</code> to start it.
      </p>
    </div>
  );
}
