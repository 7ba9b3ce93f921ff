import { describeApi } from "./openapi.ts";
import { jsonRoute, type Route } from "./route.ts";
import { agentRoutes } from "./routes/agents.ts";
import { auditRoutes } from "./routes/audit.ts";
import { budgetRoutes } from "./routes/budgets.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { worktreeRoutes } from "./routes/worktrees.ts";
import { contextRoutes } from "./routes/context.ts";
import { contextMemoryRoutes } from "./routes/context-memories.ts";
import { contextPageRoutes } from "./routes/context-pages.ts";
import { environmentRoutes } from "./routes/environments.ts";
import { fleetRoutes } from "./routes/fleet.ts";
import { fleetDoorRoutes } from "./routes/fleet-doors.ts";
import { fileRoutes } from "./routes/files.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { mcpServerRoutes } from "./routes/mcp-servers.ts";
import { memoryStoreRoutes } from "./routes/memory-stores.ts";
import { memoryVersionRoutes } from "./routes/memory-versions.ts";
import { modelRoutes } from "./routes/models.ts";
import { notificationRoutes } from "./routes/notifications.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { proposalRoutes } from "./routes/proposals.ts";
import { sessionCommandRoutes } from "./routes/session-commands.ts";
import { ruleRoutes } from "./routes/rules.ts";
import { sessionEventRoutes } from "./routes/session-events.ts";
import { sessionFolderRoutes } from "./routes/session-folder.ts";
import { sessionHistoryRoutes } from "./routes/session-history.ts";
import { sessionLogRoutes } from "./routes/session-log.ts";
import { sessionMessageRoutes } from "./routes/session-messages.ts";
import { sessionResourceRoutes } from "./routes/session-resources.ts";
import { sessionTaskRoutes } from "./routes/session-tasks.ts";
import { sessionThreadRoutes } from "./routes/session-threads.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { statusRoutes } from "./routes/status.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { trustRoutes } from "./routes/trust.ts";

const described: readonly Route[] = [
  ...agentRoutes,
  ...environmentRoutes,
  ...sessionRoutes,
  ...sessionEventRoutes,
  ...sessionThreadRoutes,
  ...sessionResourceRoutes,
  ...sessionMessageRoutes,
  ...sessionLogRoutes,
  ...sessionTaskRoutes,
  ...sessionCommandRoutes,
  ...sessionFolderRoutes,
  ...sessionHistoryRoutes,
  ...approvalRoutes,
  ...notificationRoutes,
  ...fileRoutes,
  ...memoryStoreRoutes,
  ...memoryVersionRoutes,
  ...modelRoutes,
  ...overviewRoutes,
  ...statusRoutes,
  ...fleetRoutes,
  ...fleetDoorRoutes,
  ...tokenRoutes,
  ...tenantRoutes,
  ...trustRoutes,
  ...mcpServerRoutes,
  ...budgetRoutes,
  ...worktreeRoutes,
  ...auditRoutes,
  ...contextRoutes,
  ...contextPageRoutes,
  ...contextMemoryRoutes,
  ...proposalRoutes,
  ...jobRoutes,
  ...ruleRoutes,
];

let document: unknown;

/** Every route with a handler. `refusedRoutes` has those that are refused as a whole. */
export const routeTable: readonly Route[] = [
  ...described,
  jsonRoute("openapi.retrieve", {
    scope: "read",
    at: "here",
    extension: true,
    summary: "This API as an OpenAPI 3.1 document",
    handle: async () => (document ??= describeApi(routeTable)) as { openapi: string },
  }),
];
