import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readContextSearch } from "./context/context-search-params.ts";
import { readHomeSearch } from "./home/session-filter.ts";
import { isSessionView, type SessionView } from "./session/session-views.ts";
import { ErrorPage } from "./shell/error-page.tsx";
import { NotFound } from "./ui/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: () => NotFound({}) });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("./home/home-page.tsx"), "HomePage"),
  validateSearch: readHomeSearch,
});
const session = createRoute({
  getParentRoute: () => root,
  path: "/sessions/$session",
  component: lazyRouteComponent(() => import("./session/session-page.tsx"), "SessionPage"),
  validateSearch: (search: Record<string, unknown>): { part?: string; view?: SessionView } => ({
    ...(typeof search["part"] === "string" && { part: search["part"] }),
    ...(isSessionView(search["view"]) && { view: search["view"] }),
  }),
});
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  component: lazyRouteComponent(() => import("./inbox/inbox-page.tsx"), "InboxPage"),
  validateSearch: (search: Record<string, unknown>): { view?: "decided" } =>
    search["view"] === "decided" ? { view: "decided" } : {},
});
const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  component: lazyRouteComponent(() => import("./changes/compare/compare-page.tsx"), "ComparePage"),
  validateSearch: (search: Record<string, unknown>): { a?: string; b?: string } => ({
    ...(typeof search["a"] === "string" && { a: search["a"] }),
    ...(typeof search["b"] === "string" && { b: search["b"] }),
  }),
});
const cassettes = createRoute({
  getParentRoute: () => root,
  path: "/cassettes",
  component: lazyRouteComponent(() => import("./cassettes/report-page.tsx"), "ReportPage"),
});
const context = createRoute({
  getParentRoute: () => root,
  path: "/context/$",
  component: lazyRouteComponent(() => import("./context/context-page.tsx"), "ContextPage"),
  validateSearch: readContextSearch,
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings/$",
  component: lazyRouteComponent(() => import("./settings/settings-page.tsx"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([home, session, inbox, compare, cassettes, context, settings]),
  defaultPreload: "intent",
  defaultErrorComponent: ErrorPage,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
