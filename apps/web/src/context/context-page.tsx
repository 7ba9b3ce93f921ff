import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, type ReactElement, Suspense } from "react";
import { Plus } from "lucide-react";
import { ApiError } from "../api/client.ts";
import { NotFound } from "../ui/not-found.tsx";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Problem } from "../ui/problem.tsx";
import { useOverview } from "./context-api.ts";
import { type ContextView, readPath, SECTIONS, type Section } from "./context-route.ts";
import { SearchView } from "./search/search-view.tsx";
import { SECTION_WORDS, SectionBar } from "./section-bar.tsx";
import { TablesView } from "./tables/tables-view.tsx";
import { WikiView } from "./wiki/wiki-view.tsx";
import { buttonClass } from "../ui/button.tsx";
import { ContextLink } from "./context-link.tsx";
import { ShellCommand } from "./shell-command.tsx";

const SchemaView = lazy(() => import("./schema/schema-view.tsx"));
const GraphView = lazy(() => import("./graph/graph-view.tsx"));
const ProposalsView = lazy(() => import("./proposals/proposals-view.tsx"));
const MemoryView = lazy(() => import("./memory/memory-view.tsx"));
const JobsView = lazy(() => import("./jobs/jobs-view.tsx"));
const MetricsView = lazy(() => import("./metrics/metrics-view.tsx"));
const SqlView = lazy(() => import("./sql/sql-view.tsx"));
const SourcesView = lazy(() => import("./sources/sources-view.tsx"));

/** Search, wiki, tables, memory and proposals, each with its sources. */
export function ContextPage() {
  const { _splat = "" } = useParams({ from: "/context/$" });
  const place = readPath(_splat);
  const overview = useOverview();
  const navigate = useNavigate();
  const open = (section: Section) => () => void navigate({ to: "/context/$", params: { _splat: section } });
  useShortcuts(
    "Context",
    Object.fromEntries(
      SECTIONS.map((section, at) => [String(at + 1), [`Go to ${SECTION_WORDS[section]}`, open(section)]]),
    ),
  );
  if (!place) return <NotFound />;
  const isAbsent = overview.error instanceof ApiError && overview.error.status === 404;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <SectionBar section={place.section} overview={overview.data} />
      {isAbsent && _splat !== "sources/new" ? (
        <EmptyContext />
      ) : (
        <>
          <Problem error={isAbsent ? null : overview.error} onRetry={() => void overview.refetch()} className="m-4" />
          {/* The key remounts the view, so that scroll position and state do not leak into the next page. */}
          <div className="min-h-0 flex-1">
            <Suspense fallback={null}>
              <View view={place.view} rest={place.rest} />
            </Suspense>
          </div>
        </>
      )}
    </div>
  );
}

function View({ view, rest }: { view: ContextView; rest: string }): ReactElement {
  switch (view) {
    case "search":
      return <SearchView />;
    case "wiki":
      return <WikiView pageKey={rest} />;
    case "passages":
      return <WikiView pageKey="" citation={rest} />;
    case "tables":
      return <TablesView table={rest} />;
    case "graph":
      return rest === "" ? <SchemaView /> : <GraphView table={rest} />;
    case "metrics":
      return <MetricsView metric={rest} />;
    case "sql":
      return <SqlView />;
    case "proposals":
      return <ProposalsView proposal={rest} />;
    case "memory":
      return <MemoryView memory={rest} />;
    case "jobs":
      return <JobsView job={rest} />;
    case "sources":
      return <SourcesView source={rest} />;
  }
}

/** The first step for a project without databases and documents. */
function EmptyContext() {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto max-w-lg px-4 py-12">
        <h2 className="text-base font-semibold">This project has no context yet</h2>
        <p className="mt-1 text-ink-soft">
          Add a database or a folder of documents. Agents then propose descriptions and wiki pages, and every agent can
          search the ones you accept.
        </p>
        <ContextLink path="sources/new" className={`mt-4 ${buttonClass("primary")}`}>
          <Plus aria-hidden className="size-4" /> Add a database or folder
        </ContextLink>
        <p className="mt-6 mb-1 text-sm text-ink-soft">Or in a terminal:</p>
        <ShellCommand>tandem connections add shop shop.sqlite</ShellCommand>
        <p className="mt-5 text-sm text-ink-faint">
          To try it with sample data: <code className="font-mono text-xs">tandem demo context</code> creates a small
          sample shop.
        </p>
      </div>
    </div>
  );
}
