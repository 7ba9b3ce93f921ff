import { Link, useParams } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ComponentType, lazy, type LazyExoticComponent, Suspense } from "react";
import { NotFound } from "../ui/not-found.tsx";
import { usePageTitle } from "../state/page-title.ts";
import { useOwnTenant } from "../live/own-tenant.ts";
import { settingsPagesOf, type SettingsName } from "./settings-pages.ts";

const PAGES: Readonly<Record<SettingsName, LazyExoticComponent<ComponentType>>> = {
  status: lazy(() => import("./status/status-page.tsx")),
  agents: lazy(() => import("./agents/agents-page.tsx")),
  skills: lazy(() => import("./skills/skills-page.tsx")),
  schedules: lazy(() => import("./schedules/schedules-page.tsx")),
  models: lazy(() => import("./models-page.tsx")),
  environments: lazy(() => import("./environments-page.tsx")),
  rules: lazy(() => import("./rules/rules-page.tsx")),
  sandbox: lazy(() => import("./sandbox-page.tsx")),
  usage: lazy(() => import("./usage-page.tsx")),
  budgets: lazy(() => import("./budgets-page.tsx")),
  trust: lazy(() => import("./trust-page.tsx")),
  credentials: lazy(() => import("./credentials-page.tsx")),
  mcp: lazy(() => import("./mcp-page.tsx")),
  vaults: lazy(() => import("./vaults/vaults-page.tsx")),
  webhooks: lazy(() => import("./webhooks/webhooks-page.tsx")),
  notifications: lazy(() => import("./notifications-page.tsx")),
  tokens: lazy(() => import("./tokens-page.tsx")),
  audit: lazy(() => import("./audit-page.tsx")),
  fleet: lazy(() => import("./fleet/fleet-page.tsx")),
  appearance: lazy(() => import("./appearance-page.tsx")),
};

/** Settings with a list of pages. On a phone the list is its own page. */
export function SettingsPage() {
  const { _splat: path = "" } = useParams({ from: "/settings/$" });
  const asked = path.split("/")[0] ?? "";
  const pages = settingsPagesOf(useOwnTenant());
  const current = asked === "" ? pages[0] : pages.find(({ name }) => name === asked);
  usePageTitle(current ? `${current.label}, settings` : "Settings");
  if (!current) return <NotFound />;
  const Page = PAGES[current.name];
  return (
    <div className="grid h-full min-h-0 md:grid-cols-[12rem_minmax(0,1fr)]">
      <nav
        aria-label="Settings"
        className={`overflow-y-auto p-3 md:block md:border-r md:border-line ${asked === "" ? "" : "hidden"}`}
      >
        <p className="hidden px-2 pb-2 text-base font-semibold md:block">Settings</p>
        {asked === "" && <h1 className="px-2 pb-2 text-lg font-semibold md:hidden">Settings</h1>}
        <ul>
          {pages.map(({ name, label }) => (
            <li key={name}>
              <Link
                to="/settings/$"
                params={{ _splat: name }}
                aria-current={current.name === name ? "page" : undefined}
                className={`flex min-h-11 items-center rounded-md px-2 md:min-h-7 ${current.name === name ? "md:bg-raised md:text-ink" : ""} text-ink-soft hover:bg-raised hover:text-ink`}
              >
                {label}
                <ChevronRight aria-hidden className="ml-auto size-4 text-ink-faint md:hidden" />
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={`min-h-0 overflow-y-auto md:block ${asked === "" ? "hidden" : ""}`}>
        <div className="mx-auto max-w-3xl px-4 py-4">
          <Link
            to="/settings/$"
            params={{ _splat: "" }}
            className="-ml-1 mb-2 flex min-h-10 items-center gap-1 text-ink-soft md:hidden"
          >
            <ChevronLeft aria-hidden className="size-4" /> Settings
          </Link>
          <Suspense fallback={<p className="text-ink-faint">Loading …</p>}>
            <Page />
          </Suspense>
        </div>
      </div>
    </div>
  );
}
