import { z } from "zod";
import { agentsApi } from "./agents/agents.ts";
import { approvalsApi } from "./sessions/approvals.ts";
import { auditApi } from "./server/audit.ts";
import { budgetsApi } from "./sessions/budgets.ts";
import { commandsApi } from "./sessions/commands.ts";
import { contextMemoriesApi } from "./context/context-memories.ts";
import { contextPagesApi } from "./context/context-pages.ts";
import { contextSetupApi } from "./context/context-setup.ts";
import { contextApi } from "./context/context.ts";
import { deploymentsApi } from "./agents/deployments.ts";
import { triggersApi } from "./agents/triggers.ts";
import type { ENDPOINTS, EndpointName } from "./endpoints.ts";
import { evalsApi } from "./context/evals.ts";
import { environmentsApi } from "./agents/environments.ts";
import { filesApi } from "./sessions/files.ts";
import { fleetApi } from "./server/fleet.ts";
import { historyApi } from "./sessions/history.ts";
import { jobsApi } from "./context/jobs.ts";
import { mcpServersApi } from "./context/mcp-servers.ts";
import { memoryStoresApi } from "./context/memory-stores.ts";
import { memoryVersionsApi } from "./context/memory-versions.ts";
import { messagesApi } from "./server/messages.ts";
import { modelsApi } from "./server/models.ts";
import { notificationsApi } from "./server/notifications.ts";
import { overviewApi } from "./sessions/overview.ts";
import { metricsApi } from "./context/metrics.ts";
import { proposalsApi } from "./context/proposals.ts";
import { rulesApi } from "./sessions/rules.ts";
import { sandboxApi } from "./server/sandbox.ts";
import { sessionEventsApi } from "./sessions/session-events.ts";
import { sessionFolderApi } from "./sessions/session-folder.ts";
import { sessionLogApi } from "./sessions/session-log.ts";
import { sessionResourcesApi } from "./sessions/session-resources.ts";
import { sessionTasksApi } from "./sessions/session-tasks.ts";
import { sessionsApi } from "./sessions/sessions.ts";
import { skillsApi } from "./agents/skills.ts";
import { statusApi } from "./server/status.ts";
import { tenantsApi } from "./server/tenants.ts";
import { threadsApi } from "./sessions/threads.ts";
import { tokensApi } from "./server/tokens.ts";
import { trustApi } from "./server/trust.ts";
import { vaultLoginsApi } from "./agents/vault-logins.ts";
import { vaultsApi } from "./agents/vaults.ts";
import { worktreesApi } from "./sessions/worktrees.ts";
import { webhooksApi } from "./server/webhooks.ts";
import { workApi } from "./agents/work.ts";

interface JsonOperation {
  query?: z.ZodObject;
  body?: z.ZodType;
  response: z.ZodType;
}

interface UploadOperation {
  /** Form fields besides `file`. */
  form: z.ZodObject;
  /** The form has several files, whose names are paths. */
  many?: true;
  response: z.ZodType;
}

interface DownloadOperation {
  download: true;
}

interface StreamOperation {
  query?: z.ZodObject;
  /** The data of each frame. */
  frame: z.ZodType;
}

/** Request and answer pass through unchanged. */
interface PassedOperation {
  /** The fields that are read on the way. */
  passed: z.ZodType;
  answer: z.ZodType;
}

/** The request carries a signature instead of a token. */
interface SignedOperation {
  query?: z.ZodObject;
  signed: z.ZodType;
  /** Answered with 202. */
  receipt: z.ZodType;
}

type Operation =
  | JsonOperation
  | UploadOperation
  | DownloadOperation
  | StreamOperation
  | PassedOperation
  | SignedOperation;

/** Request and response shapes of each route, by route name. The server validates requests against them. */
export const CONTRACT = {
  ...agentsApi,
  ...approvalsApi,
  ...auditApi,
  ...budgetsApi,
  ...commandsApi,
  ...contextApi,
  ...contextMemoriesApi,
  ...contextPagesApi,
  ...contextSetupApi,
  ...deploymentsApi,
  ...triggersApi,
  ...evalsApi,
  ...metricsApi,
  ...environmentsApi,
  ...filesApi,
  ...fleetApi,
  ...historyApi,
  ...jobsApi,
  ...mcpServersApi,
  ...memoryStoresApi,
  ...memoryVersionsApi,
  ...messagesApi,
  ...modelsApi,
  ...notificationsApi,
  ...webhooksApi,
  ...overviewApi,
  ...proposalsApi,
  ...rulesApi,
  ...sandboxApi,
  ...sessionEventsApi,
  ...sessionFolderApi,
  ...sessionLogApi,
  ...sessionResourcesApi,
  ...sessionTasksApi,
  ...sessionsApi,
  ...skillsApi,
  ...statusApi,
  ...tenantsApi,
  ...threadsApi,
  ...tokensApi,
  ...trustApi,
  ...vaultsApi,
  ...vaultLoginsApi,
  ...workApi,
  ...worktreesApi,
  "openapi.retrieve": { response: z.looseObject({ openapi: z.string() }) },
} satisfies Record<EndpointName, Operation>;

type Contract = typeof CONTRACT;

/** Names whose operation has the given members. */
type NamesWith<Members> = {
  [Name in EndpointName]: Contract[Name] extends Members ? Name : never;
}[EndpointName];

export type UploadName = NamesWith<{ form: z.ZodType }>;
export type JsonName = Exclude<NamesWith<{ response: z.ZodType }>, UploadName>;
export type DownloadName = NamesWith<{ download: true }>;
export type StreamName = NamesWith<{ frame: z.ZodType }>;
export type PassedName = NamesWith<{ passed: z.ZodType }>;
export type SignedName = NamesWith<{ signed: z.ZodType }>;

type Address<Name extends EndpointName> = (typeof ENDPOINTS)[Name];

/** The names after colons in a path. */
type ParamName<Path extends string> = Path extends `${string}:${infer Param}/${infer Rest}`
  ? Param | ParamName<`/${Rest}`>
  : Path extends `${string}:${infer Param}`
    ? Param
    : never;

export type ParamsOf<Name extends EndpointName> = Record<ParamName<Address<Name>>, string>;

/** A schema of an operation, or `Otherwise` if it has none. */
type Shape<Name extends EndpointName, Member extends string, Otherwise> =
  Contract[Name] extends Record<Member, infer Schema extends z.ZodType> ? Schema : Otherwise;

/** The query as a client sends it. */
export type QueryInput<Name extends EndpointName> = z.input<Shape<Name, "query", z.ZodObject<{}>>>;
export type BodyInput<Name extends EndpointName> = z.input<Shape<Name, "body", z.ZodUndefined>>;
export type FormInput<Name extends UploadName> = z.input<Contract[Name]["form"]>;

/** The query as a handler gets it, with defaults filled in. */
export type QueryOutput<Name extends EndpointName> = z.output<Shape<Name, "query", z.ZodObject<{}>>>;
export type BodyOutput<Name extends EndpointName> = z.output<Shape<Name, "body", z.ZodUndefined>>;
export type PassedOutput<Name extends PassedName> = z.output<Contract[Name]["passed"]>;
export type FormOutput<Name extends UploadName> = z.output<Contract[Name]["form"]>;

/** The response as a handler returns it and a client reads it. */
export type ResponseInput<Name extends JsonName | UploadName> = z.input<Contract[Name]["response"]>;
export type ResponseOf<Name extends JsonName | UploadName> = z.output<Contract[Name]["response"]>;
export type FrameOf<Name extends StreamName> = z.output<Contract[Name]["frame"]>;
