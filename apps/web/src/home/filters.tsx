import { useNavigate } from "@tanstack/react-router";
import { Search, X } from "lucide-react";
import { type RefObject, useState } from "react";
import type { FeedSession } from "../live/session-feed.ts";
import { Button } from "../ui/button.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { Select } from "../ui/select.tsx";
import { STATE_WORDS } from "../ui/state-dot.tsx";
import { folderName } from "../text/path-labels.ts";
import { STATES, type HomeSearch } from "./session-filter.ts";

/** Filters for the session list. They are kept in the URL, so that a view can be bookmarked and shared. */
export function Filters({
  search,
  sessions,
  input,
}: {
  search: HomeSearch;
  sessions: readonly FeedSession[];
  input: RefObject<HTMLInputElement | null>;
}) {
  const navigate = useNavigate({ from: "/" });
  const change = (part: { [K in keyof HomeSearch]?: HomeSearch[K] | undefined }): void =>
    void navigate({
      replace: true,
      search: (now: HomeSearch) =>
        Object.fromEntries(
          Object.entries({ ...now, ...part }).filter(([, value]) => value !== undefined && value !== ""),
        ) as HomeSearch,
    });
  // The URL follows the input. Writing the URL back while the user types would lose characters.
  const [words, setWords] = useState(search.q ?? "");
  const look = (q: string): void => {
    setWords(q);
    change({ q });
  };
  const agents = new Map(sessions.map(({ agent }) => [agent.id, agent.name]));
  // Worktrees and scratch folders have exactly one session, so they are no useful filter.
  const folders = [...new Set(sessions.map(({ folder }) => folder))]
    .filter((path) => path.endsWith(folderName(path)))
    .sort();
  const isNarrow = Object.keys(search).some((key) => key !== "archived");
  return (
    <search className="flex min-w-0 flex-1 flex-wrap items-center gap-1">
      <label className="relative flex min-w-40 flex-1 basis-full items-center md:max-w-72 md:basis-auto">
        <span className="sr-only">Search sessions</span>
        <Search aria-hidden className="pointer-events-none absolute left-2 size-3.5 text-ink-faint" />
        <input
          ref={input}
          type="search"
          value={words}
          onChange={(event) => look(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            look("");
            event.currentTarget.blur();
          }}
          placeholder="Search"
          className="h-10 w-full rounded-md border border-edge bg-surface pr-7 pl-7 text-sm placeholder:text-ink-faint focus:border-accent focus:outline-none md:h-8 [&::-webkit-search-cancel-button]:hidden"
        />
        <span className="pointer-events-none absolute right-2 text-ink-faint">
          <Kbd keys="/" />
        </span>
      </label>
      <Select
        isBare
        aria-label="Agent"
        value={search.agent ?? ""}
        onChange={(agent) => change({ agent })}
        options={[{ value: "", label: "Any agent" }, ...[...agents].map(([value, label]) => ({ value, label }))]}
        className="max-w-40"
      />
      <Select
        isBare
        aria-label="Folder"
        value={search.folder ?? ""}
        onChange={(folder) => change({ folder })}
        options={[{ value: "", label: "Any folder" }, ...folders.map((value) => ({ value, label: folderName(value) }))]}
        className="max-w-40"
      />
      <Select
        isBare
        aria-label="State"
        value={search.state ?? ""}
        onChange={(state) => change({ state: state === "" ? undefined : state })}
        options={[{ value: "", label: "Any state" }, ...STATES.map((value) => ({ value, label: STATE_WORDS[value] }))]}
        className="max-w-40"
      />
      {isNarrow && (
        <Button
          look="quiet"
          size="small"
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => {
            setWords("");
            change({ q: undefined, agent: undefined, folder: undefined, state: undefined });
          }}
        >
          Clear
        </Button>
      )}
    </search>
  );
}
