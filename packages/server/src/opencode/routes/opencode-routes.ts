import type { OpencodeRoute } from "./opencode-route.ts";
import { eventRoutes } from "./event-routes.ts";
import { fileRoutes } from "./file-routes.ts";
import { infoRoutes } from "./info-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { requestRoutes } from "./request-routes.ts";
import { sessionRoutes } from "./session-routes.ts";

/** All calls of opencode's API that Tandem serves. */
export const opencodeRoutes: readonly OpencodeRoute[] = [
  ...infoRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...requestRoutes,
  ...eventRoutes,
  ...fileRoutes,
];
