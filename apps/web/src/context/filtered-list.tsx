import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { count } from "../text/format.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";

/** Longer lists are cut; the filter is faster than scrolling. */
const ROWS = 400;

/** Items of a query in groups, with a filter. An item matches if its text contains every word of the filter. */
export function FilteredList<Item>({
  query,
  noun,
  placeholder = "Filter",
  link,
  textOf,
  groupOf,
  children,
}: {
  query: UseQueryResult<{ data: Item[] }>;
  noun: string;
  placeholder?: string;
  /** Beside the filter. */
  link?: ReactNode;
  textOf: (item: Item) => string;
  /** The title of the item's group; "" for none. */
  groupOf: (item: Item) => string;
  children: (item: Item) => ReactNode;
}) {
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(ROWS);
  const items = query.data?.data;
  const found = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return (items ?? []).filter((item) => {
      const text = textOf(item).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [items, filter, textOf]);
  const groups = useMemo(
    () => [...Map.groupBy(found.slice(0, most), groupOf)].sort(([a], [b]) => a.localeCompare(b)),
    [found, most, groupOf],
  );
  return (
    <>
      <div className="sticky top-0 z-10 flex gap-2 border-b border-line bg-surface p-2">
        <TextInput
          type="search"
          aria-label={`Filter ${noun}s`}
          placeholder={placeholder}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        {link}
      </div>
      <Problem error={query.error} onRetry={() => void query.refetch()} className="m-3" />
      {groups.map(([title, own]) => (
        <div key={title} className="py-1.5">
          {title !== "" && <h2 className="px-4 pt-1 pb-0.5 text-xs font-medium text-ink-faint">{title}</h2>}
          {own.map(children)}
        </div>
      ))}
      {found.length > most && (
        <Button look="quiet" size="small" className="m-2" onClick={() => setMost(most + ROWS)}>
          {count(found.length - most)} more
        </Button>
      )}
      {items && found.length === 0 && <p className="p-4 text-sm text-ink-faint">{`No ${noun} matches.`}</p>}
    </>
  );
}
