import { contextOf, loadContext } from "../../context-of.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** Evals are run as jobs of the kind `evals`. */
export const evalRoutes: Route[] = [
  jsonRoute("context.evals.list", {
    scope: "read",
    at: "context",
    summary: "List the eval files of the context, with their problems. A job of the kind `evals` runs them",
    handle: async (call) => {
      const { folder } = contextOf(call).context;
      return { data: await (await loadContext()).listEvals(folder) };
    },
  }),
];
