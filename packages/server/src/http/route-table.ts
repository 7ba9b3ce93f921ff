import { describeApi } from "./openapi.ts";
import { jsonRoute, type Route, type SignedRoute } from "./route.ts";
import { agentRoutes } from "./routes/agents/agent-routes.ts";
import { auditRoutes } from "./routes/server/audit-routes.ts";
import { budgetRoutes } from "./routes/sessions/budget-routes.ts";
import { approvalRoutes } from "./routes/sessions/approval-routes.ts";
import { workRoutes } from "./routes/agents/work-routes.ts";
import { worktreeRoutes } from "./routes/sessions/worktree-routes.ts";
import { contextRoutes } from "./routes/context/context-routes.ts";
import { metricRoutes } from "./routes/context/metric-routes.ts";
import { contextMemoryRoutes } from "./routes/context/context-memory-routes.ts";
import { contextPageRoutes } from "./routes/context/context-page-routes.ts";
import { contextSetupRoutes } from "./routes/context/context-setup-routes.ts";
import { environmentRoutes } from "./routes/agents/environment-routes.ts";
import { triggerDelivery, triggerRoutes } from "./routes/agents/trigger-routes.ts";
import { deploymentRoutes } from "./routes/agents/deployment-routes.ts";
import { fleetRoutes } from "./routes/server/fleet-routes.ts";
import { fleetInternalRoutes } from "./routes/server/fleet-internal-routes.ts";
import { fileRoutes } from "./routes/sessions/file-routes.ts";
import { skillRoutes } from "./routes/agents/skill-routes.ts";
import { evalRoutes } from "./routes/context/eval-routes.ts";
import { jobRoutes } from "./routes/context/job-routes.ts";
import { mcpServerRoutes } from "./routes/context/mcp-server-routes.ts";
import { memoryStoreRoutes } from "./routes/context/memory-store-routes.ts";
import { memoryVersionRoutes } from "./routes/context/memory-version-routes.ts";
import { messageRoutes } from "./routes/server/message-routes.ts";
import { modelRoutes } from "./routes/server/model-routes.ts";
import { notificationRoutes } from "./routes/server/notification-routes.ts";
import { overviewRoutes } from "./routes/sessions/overview-routes.ts";
import { proposalRoutes } from "./routes/context/proposal-routes.ts";
import { sessionCommandRoutes } from "./routes/sessions/session-command-routes.ts";
import { ruleRoutes } from "./routes/sessions/rule-routes.ts";
import { sandboxRoutes } from "./routes/server/sandbox-routes.ts";
import { sessionEventRoutes } from "./routes/sessions/session-event-routes.ts";
import { sessionFolderRoutes } from "./routes/sessions/session-folder-routes.ts";
import { sessionHistoryRoutes } from "./routes/sessions/session-history-routes.ts";
import { sessionLogRoutes } from "./routes/sessions/session-log-routes.ts";
import { sessionMessageRoutes } from "./routes/sessions/session-message-routes.ts";
import { sessionResourceRoutes } from "./routes/sessions/session-resource-routes.ts";
import { sessionTaskRoutes } from "./routes/sessions/session-task-routes.ts";
import { sessionThreadRoutes } from "./routes/sessions/session-thread-routes.ts";
import { sessionRoutes } from "./routes/sessions/session-routes.ts";
import { statusRoutes } from "./routes/server/status-routes.ts";
import { tenantRoutes } from "./routes/server/tenant-routes.ts";
import { tokenRoutes } from "./routes/server/token-routes.ts";
import { trustRoutes } from "./routes/server/trust-routes.ts";
import { vaultLoginRoutes } from "./routes/agents/vault-login-routes.ts";
import { vaultRoutes } from "./routes/agents/vault-routes.ts";
import { webhookRoutes } from "./routes/server/webhook-routes.ts";

const described: readonly Route[] = [
  ...agentRoutes,
  ...environmentRoutes,
  ...workRoutes,
  ...deploymentRoutes,
  ...triggerRoutes,
  ...vaultRoutes,
  ...vaultLoginRoutes,
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
  ...webhookRoutes,
  ...fileRoutes,
  ...skillRoutes,
  ...memoryStoreRoutes,
  ...memoryVersionRoutes,
  ...messageRoutes,
  ...modelRoutes,
  ...overviewRoutes,
  ...statusRoutes,
  ...fleetRoutes,
  ...fleetInternalRoutes,
  ...tokenRoutes,
  ...tenantRoutes,
  ...trustRoutes,
  ...mcpServerRoutes,
  ...budgetRoutes,
  ...worktreeRoutes,
  ...auditRoutes,
  ...contextRoutes,
  ...metricRoutes,
  ...contextPageRoutes,
  ...contextMemoryRoutes,
  ...contextSetupRoutes,
  ...evalRoutes,
  ...proposalRoutes,
  ...jobRoutes,
  ...ruleRoutes,
  ...sandboxRoutes,
];

let document: unknown;

/** Every route with a handler. `refusedRoutes` has those that are refused as a whole. */
export const routeTable: readonly Route[] = [
  ...described,
  jsonRoute("openapi.retrieve", {
    scope: "read",
    at: "here",
    summary: "This API as an OpenAPI 3.1 document",
    handle: async () => (document ??= describeApi(describedRoutes)) as { openapi: string },
  }),
];

/** Those of the documents: also routes that take a signature instead of a token. */
export const describedRoutes: readonly (Route | SignedRoute)[] = [...routeTable, triggerDelivery];
