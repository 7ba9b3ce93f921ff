import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeftRight } from "lucide-react";
import { feed } from "../../live/session-feed.ts";
import { useLive } from "../../live/live-value.ts";
import { usePageTitle } from "../../state/page-title.ts";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Select } from "../../ui/select.tsx";
import { CompareFiles } from "./compare-files.tsx";
import { CompareSide } from "./compare-side.tsx";

/** Compares the cost, the result and the file changes of two sessions. */
export function ComparePage() {
  const { a, b } = useSearch({ from: "/compare" });
  const sessions = useLive(feed.sessions);
  const isKnown = useLive(feed.isKnown);
  const navigate = useNavigate();
  const show = (search: { a?: string; b?: string }): void => void navigate({ to: "/compare", search, replace: true });
  const swap = (): void => show({ ...(b !== undefined && { a: b }), ...(a !== undefined && { b: a }) });
  usePageTitle("Compare");
  useShortcuts("Compare", { x: ["Swap sides", swap] });
  const options = [
    { value: "", label: "Choose a session" },
    ...[...sessions.values()]
      .toSorted((one, other) => other.updated_at.localeCompare(one.updated_at))
      .map(({ id, title, agent }) => ({ value: id, label: `${title ?? "Untitled"} · ${agent.name}` })),
  ];
  const picker = (side: "a" | "b", label: string) => (
    <Select
      aria-label={label}
      className="min-w-0 flex-1"
      value={(side === "a" ? a : b) ?? ""}
      onChange={(value) => show({ a, b, [side]: value === "" ? undefined : value })}
      options={options}
    />
  );
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5">
        <h1 className="text-base font-semibold">Compare</h1>
        <div className="flex min-w-0 flex-1 items-center gap-2 max-md:basis-full">
          {picker("a", "Left session")}
          <Button size="icon" look="quiet" aria-label="Swap sides" onClick={swap}>
            <ArrowLeftRight aria-hidden className="size-4" />
          </Button>
          {picker("b", "Right session")}
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        {isKnown && (a === undefined || b === undefined) ? (
          <Empty title="Choose two sessions">
            Compare the files, cost and result of two sessions, such as a session and its fork.
          </Empty>
        ) : (
          a !== undefined &&
          b !== undefined && (
            <div className="mx-auto max-w-7xl space-y-6">
              <div className="grid gap-4 md:grid-cols-2">
                <CompareSide session={a} />
                <CompareSide session={b} />
              </div>
              <CompareFiles a={a} b={b} />
            </div>
          )
        )}
      </div>
    </div>
  );
}
