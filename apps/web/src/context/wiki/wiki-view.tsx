import { useMemo, useState } from "react";
import { count } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { type PageSummary, usePages } from "../context-api.ts";
import { Panes, PaneRow } from "../panes.tsx";
import { PageView } from "./page-view.tsx";
import { PassageView } from "./passage-view.tsx";

/** Longer lists are cut; the filter is faster than scrolling. */
const ROWS = 400;

/** Pages by folder, with the open page. */
export function WikiView({ pageKey, citation }: { pageKey: string; citation?: string }) {
  const pages = usePages();
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(ROWS);
  const found = useMemo(() => matching(pages.data?.data ?? [], filter), [pages.data, filter]);
  const groups = useMemo(() => byFolder(found.slice(0, most)), [found, most]);
  if (pages.data?.data.length === 0 && citation === undefined) return <NoPages />;
  const list = (
    <>
      <div className="sticky top-0 z-10 border-b border-line bg-surface p-2">
        <TextInput
          type="search"
          aria-label="Filter pages"
          placeholder="Filter"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <Problem error={pages.error} onRetry={() => void pages.refetch()} className="m-3" />
      {groups.map(([folder, own]) => (
        <div key={folder} className="py-1.5">
          {folder !== "" && <h2 className="px-4 pt-1 pb-0.5 text-xs font-medium text-ink-faint">{folder}</h2>}
          {own.map((page) => (
            <PaneRow key={page.key} path={`wiki/${page.key}`} isCurrent={page.key === pageKey}>
              <span className={`block truncate ${page.problem === null ? "" : "text-bad"}`}>{page.title}</span>
              <span className="block truncate text-xs text-ink-faint">{page.problem ?? page.summary}</span>
            </PaneRow>
          ))}
        </div>
      ))}
      {found.length > most && (
        <Button look="quiet" size="small" className="m-2" onClick={() => setMost(most + ROWS)}>
          {count(found.length - most)} more
        </Button>
      )}
      {pages.data && groups.length === 0 && <p className="p-4 text-sm text-ink-faint">No page matches.</p>}
    </>
  );
  const detail = citation ? (
    <PassageView key={citation} citation={citation} />
  ) : pageKey ? (
    <PageView key={pageKey} pageKey={pageKey} />
  ) : undefined;
  return <Panes label="Wiki" back="wiki" list={list} detail={detail} />;
}

const matching = (pages: readonly PageSummary[], filter: string): PageSummary[] => {
  const term = filter.trim().toLowerCase();
  return pages.filter(({ key, title, summary, tags }) =>
    [key, title, summary, ...tags].some((text) => text.toLowerCase().includes(term)),
  );
};

function byFolder(pages: readonly PageSummary[]): [folder: string, pages: PageSummary[]][] {
  const groups = Map.groupBy(pages, ({ key }) => key.split("/").slice(0, -1).join(" › "));
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

function NoPages() {
  return (
    <Empty title="The wiki has no pages yet">
      <p className="mb-3">
        Pages are written from documents. List them in <code className="font-mono text-xs">tandem.yaml</code> under{" "}
        <code className="font-mono text-xs">ingest.sources</code>, ingest them, and accept the proposals.
      </p>
      <ShellCommand>tandem context ingest</ShellCommand>
    </Empty>
  );
}
