import { nearest, RequestError } from "@tandem/protocol";
import { routeTable } from "../http/route-table.ts";
import type { PassedRoute, Route } from "../http/route.ts";
import { refusedRoutes } from "../http/routes/server/refused-routes.ts";

export type StdioRoute = Exclude<Route, PassedRoute>;

/**
 * Every route is a method under its own name, so that there is no second list to maintain. The Messages API is missing: its
 * bytes pass through, and a line has none.
 */
export const methods: ReadonlyMap<string, StdioRoute> = new Map(
  routeTable.flatMap((route) => (route.kind === "passed" ? [] : [[route.name, route]])),
);

/** Methods of the connection itself. */
export const OWN_METHODS = ["hello", "cancel"] as const;

export function findMethod(name: string): StdioRoute {
  const route = methods.get(name);
  if (route) return route;
  const refused = refusedRoutes.find((one) => name.startsWith(`${one.name}.`));
  if (refused) throw new RequestError(refused.code, refused.reason);
  const meant = nearest(name, [...methods.keys(), ...OWN_METHODS]);
  throw new RequestError("not_found", `There is no method ${JSON.stringify(name)}.`, {
    ...(meant && { fix: `Did you mean ${meant}?` }),
  });
}

/** The names of a route's path parameters. */
export const pathNames = ({ path }: Pick<Route, "path">): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);

/** The names of a route's query parameters. */
export const queryNames = ({ query }: Pick<Route, "query">): string[] => Object.keys(query.shape);

/** The param that resumes a stream. */
export const AFTER = "after";
