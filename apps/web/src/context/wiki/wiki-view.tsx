import { Empty } from "../../ui/empty.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { type PageSummary, usePages } from "../context-api.ts";
import { Panes, PaneRow } from "../panes.tsx";
import { PageView } from "./page-view.tsx";
import { PassageView } from "./passage-view.tsx";
import { FilteredList } from "../filtered-list.tsx";

/** Pages by folder, with the open page. */
export function WikiView({ pageKey, citation }: { pageKey: string; citation?: string }) {
  const pages = usePages();
  if (pages.data?.data.length === 0 && citation === undefined) return <NoPages />;
  const list = (
    <FilteredList query={pages} noun="page" textOf={textOf} groupOf={folderOf}>
      {(page) => (
        <PaneRow key={page.key} path={`wiki/${page.key}`} isCurrent={page.key === pageKey}>
          <span className={`block truncate ${page.problem === null ? "" : "text-bad"}`}>{page.title}</span>
          <span className="block truncate text-xs text-ink-faint">{page.problem ?? page.summary}</span>
        </PaneRow>
      )}
    </FilteredList>
  );
  const detail = citation ? (
    <PassageView key={citation} citation={citation} />
  ) : pageKey ? (
    <PageView key={pageKey} pageKey={pageKey} />
  ) : undefined;
  return <Panes label="Wiki" back="wiki" list={list} detail={detail} />;
}

const textOf = ({ key, title, summary, tags }: PageSummary): string => [key, title, summary, ...tags].join(" ");
const folderOf = ({ key }: PageSummary): string => key.split("/").slice(0, -1).join(" › ");

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
