import { jsonRoute, type Route } from "../../route.ts";

export const trustRoutes: Route[] = [
  jsonRoute("trust.retrieve", {
    scope: "read",
    at: "worker",
    operator: true,
    summary: "Read whether a folder that sessions may work in is trusted (`tandem trust --folder` grants it)",
    handle: async ({ engine, query }) => engine.trust.of(query.folder),
  }),
];
