import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePageTitle } from "../state/page-title.ts";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Tabs } from "../ui/tabs.tsx";
import { DecidedList } from "./decided-list.tsx";
import { NotifyButton } from "../ui/notify-button.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** Pending approvals of all sessions, and past decisions. */
export function InboxPage() {
  const { view = "waiting" } = useSearch({ from: "/inbox" });
  const navigate = useNavigate();
  const show = (next: "waiting" | "decided"): void =>
    void navigate({ to: "/inbox", search: next === "waiting" ? {} : { view: next }, replace: true });
  usePageTitle(view === "waiting" ? "Inbox" : "Decided");
  useShortcuts("Inbox", {
    h: [
      view === "waiting" ? "Show decided requests" : "Show requests that need you",
      () => show(view === "waiting" ? "decided" : "waiting"),
    ],
  });
  return (
    <div className="flex h-full flex-col">
      <header className="px-4 pt-2.5">
        <div className="flex items-center gap-3 pb-1">
          <h1 className="text-base font-semibold">Inbox</h1>
          <span className="ml-auto">
            <NotifyButton />
          </span>
        </div>
        <Tabs
          label="Inbox views"
          tabs={[
            { name: "waiting", label: "Needs you" },
            { name: "decided", label: "Decided" },
          ]}
          value={view}
          onChange={show}
        />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="mx-auto max-w-4xl">{view === "waiting" ? <WaitingList /> : <DecidedList />}</div>
      </div>
    </div>
  );
}
