import {
  CONTRACT,
  ENDPOINTS,
  EXTENSIONS,
  pathOf,
  type BodyOutput,
  type DownloadName,
  type EndpointName,
  type FormOutput,
  type JsonName,
  type PassedName,
  type PassedOutput,
  type ParamsOf,
  type QueryOutput,
  type ResponseInput,
  type SignedName,
  type StreamName,
  type UploadName,
} from "@tandem/protocol";
import type { Engine, MessagesReply } from "@tandem/sessions";
import type { Scope, TokenRow, TokenStore } from "@tandem/storage";
import { z } from "zod";
import type { ContextSetup, ServedContext } from "../served-context.ts";
import type { ServerHealth } from "../server-health.ts";
import type { TenantRuntime } from "../tenants/tenant-runtime.ts";
import type { TenantService, ReadTenantUsage } from "../tenants/tenant-service.ts";
import type { Execution } from "./idempotency/request-journal.ts";
import type { EncodedAnswer } from "./encoded-answer.ts";
import type { EventStream } from "./sse/event-stream.ts";
import type { SessionHubs } from "./sse/session-hubs.ts";

// Every route is one entry of a table. Request handling, validation, the OpenAPI document, the reference in the docs
// and the tests of all routes derive from that table, so that they cannot disagree.

export interface Call<Params = Record<string, string>, Query = unknown, Body = unknown> {
  engine: Engine;
  /** Undefined if the project has none. */
  context: ServedContext | undefined;
  /** Undefined if databases and folders cannot be added here. */
  setup: ContextSetup | undefined;
  /** Undefined in tests. */
  health: ServerHealth | undefined;
  /** The token's tenant. */
  tenant: TenantRuntime["tenant"];
  /** The tenant's usage and quotas; undefined if usage is not counted. */
  readUsage: ReadTenantUsage | undefined;
  /** Undefined except for the operator. */
  tenantService: TenantService | undefined;
  /** The tokens that the tenant may see. */
  tokens: TokenStore;
  token: TokenRow;
  params: Params;
  query: Query;
  body: Body;
  header: (name: string) => string | undefined;
  /** Creates the ids of what the request creates. They are the same if it is executed again. */
  newId: Execution["newId"];
  /** Replaces the id that `newId` returns: see `Execution`. */
  useId: Execution["useId"];
  /** The request was executed before, at least in part. */
  isResumed: boolean;
  /** Fires when the client disconnects. */
  signal: AbortSignal;
}

/**
 * Which process of a fleet handles a request; a single process handles all of them.
 * - `here`: the process that received it, because the store has everything it needs;
 * - `writer`: the process that writes the session, else one on its folder's machine, else the receiver;
 * - `folder`: the same, but only on the machine of the session's folder;
 * - `worker`: a process that runs sessions and has the folder or the environment that the request names;
 * - `context`: a process that has the project's context;
 * - `job`: the same, but one that runs jobs: not a server;
 * - `each`: all processes that run sessions; their answers are merged.
 */
export type At = "here" | "writer" | "folder" | "worker" | "context" | "job" | "each";

interface RouteBase {
  /** The operation's id, such as `agents.create`; the part before the dot is its section. */
  name: string;
  method: "GET" | "POST" | "DELETE";
  /** With `:name` for parameters. */
  path: `/${string}`;
  /** The scope that a token needs. */
  scope: Scope;
  at: At;
  /** One sentence without its full stop. */
  summary: string;
  /** Tandem's own, not part of Anthropic's API. */
  extension: boolean;
  /** Concerns the machine itself: not found for other tenants than the default one. */
  operator?: boolean;
  /** May take as long as setting up a worktree. */
  longRunning: boolean;
  /** The answer contains a secret, so that it is not kept for retries. */
  secretAnswer?: boolean;
  /** Called again with the same ids, it has no second effect and the same answer. */
  isRepeatable?: boolean;
  /** The result if an earlier process has carried out the request and died; rejects with `not_found` if it has not. */
  find?(call: Call): Promise<unknown>;
  query: z.ZodObject;
}

export interface JsonRoute extends RouteBase {
  kind: "json";
  body: z.ZodType | undefined;
  response: z.ZodType;
  handle(call: Call): Promise<unknown>;
}

export interface UploadRoute extends RouteBase {
  kind: "upload";
  /** Fields of the form besides `file`. */
  body: z.ZodObject;
  /** Takes several files, whose names are paths. */
  many: boolean;
  response: z.ZodType;
  handle(call: Call & { upload: Upload; uploads: readonly Upload[] }): Promise<unknown>;
}

export interface Upload {
  filename: string;
  mimeType: string;
  content: Uint8Array;
}

export interface Download {
  filename: string;
  mimeType: string;
  size: number;
  read(): Promise<Uint8Array>;
}

export interface DownloadRoute extends RouteBase {
  kind: "download";
  handle(call: Call): Promise<Download>;
}

export interface StreamRoute extends RouteBase {
  kind: "stream";
  /** The schema of each frame's data. */
  frame: z.ZodType;
  /** Must throw every error before it calls `open`, which sends the response headers. */
  handle(call: Call, streams: { hubs: SessionHubs; open: () => EventStream }): Promise<void>;
}

/** A call whose body and answer pass through unchanged. */
export interface PassedCall<Body = PassedOutput<PassedName>> extends Call<Record<string, string>, unknown, Body> {
  /** The body as it was sent. */
  bytes: Uint8Array;
  reply: MessagesReply;
}

export interface PassedRoute extends RouteBase {
  kind: "passed";
  /** The fields that are read on the way. */
  body: z.ZodType;
  answer: z.ZodType;
  /** Must throw every error before it calls `reply.head`. */
  handle(call: PassedCall<unknown>): Promise<void>;
}

/** Its requests carry a signature instead of a token. Outside the table: no token names their tenant. */
export interface SignedRoute extends Pick<RouteBase, "name" | "method" | "path" | "summary" | "extension" | "query"> {
  kind: "signed";
  body: z.ZodType;
  /** Answered with 202. */
  receipt: z.ZodType;
}

/** A part of Anthropic's API that Tandem does not support, with all paths below its own. */
export interface RefusedRoute {
  kind: "refused";
  name: string;
  path: `/${string}`;
  code: "not_found" | "invalid_request";
  /** A part of Anthropic's API. The others are paths that people try. */
  isAnthropic?: true;
  /** One sentence. */
  reason: string;
}

export type Route = JsonRoute | UploadRoute | DownloadRoute | StreamRoute | PassedRoute;

/** Whether a stream resumes after a `Last-Event-ID`. */
export const isResumable = ({ kind, name }: Route | SignedRoute): boolean =>
  kind === "stream" && name.includes("events");

const noQuery = z.strictObject({});

interface Definition {
  scope: Scope;
  /** No default, so that every new route decides it. */
  at: At;
  summary: string;
  operator?: boolean;
  longRunning?: boolean;
  secretAnswer?: boolean;
  isRepeatable?: boolean;
  find?: (call: Call) => Promise<unknown>;
}

/** The fields that all kinds of routes share; the schemas come from the contract. */
function base(name: EndpointName, definition: Definition): RouteBase {
  return { longRunning: false, ...definition, ...addressed(name) };
}

function addressed(name: EndpointName): Pick<RouteBase, "name" | "method" | "path" | "extension" | "query"> {
  const [method] = ENDPOINTS[name].split(" ") as [RouteBase["method"]];
  const shapes = CONTRACT[name];
  return {
    name,
    method,
    path: pathOf(name),
    extension: name in EXTENSIONS,
    query: "query" in shapes ? shapes.query : noQuery,
  };
}

// The table holds handlers of any call: methods are bivariant in their parameters. `RouteRunner` passes a handler only calls
// that were parsed by the schemas of the same entry of the contract.

export function jsonRoute<Name extends JsonName>(
  name: Name,
  definition: Definition & {
    handle: (
      call: Call<ParamsOf<Name>, QueryOutput<Name>, BodyOutput<Name>>,
    ) => Promise<ResponseInput<Name> | EncodedAnswer>;
  },
): JsonRoute {
  const { body, response }: { body?: z.ZodType; response: z.ZodType } = CONTRACT[name];
  return { ...base(name, definition), kind: "json", body, response, handle: definition.handle };
}

export function streamRoute<Name extends StreamName>(
  name: Name,
  definition: Definition & {
    handle: (
      call: Call<ParamsOf<Name>, QueryOutput<Name>>,
      streams: Parameters<StreamRoute["handle"]>[1],
    ) => Promise<void>;
  },
): StreamRoute {
  return { ...base(name, definition), kind: "stream", frame: CONTRACT[name].frame, handle: definition.handle };
}

export function uploadRoute<Name extends UploadName>(
  name: Name,
  definition: Definition & {
    handle: (
      call: Call<ParamsOf<Name>, unknown, FormOutput<Name>> &
        Pick<Parameters<UploadRoute["handle"]>[0], "upload" | "uploads">,
    ) => Promise<ResponseInput<Name>>;
  },
): UploadRoute {
  const {
    form: body,
    response,
    many = false,
  }: { form: z.ZodObject; response: z.ZodType; many?: boolean } = CONTRACT[name];
  return { ...base(name, definition), kind: "upload", body, many, response, handle: definition.handle };
}

export function downloadRoute<Name extends DownloadName>(
  name: Name,
  definition: Definition & { handle: (call: Call<ParamsOf<Name>>) => Promise<Download> },
): DownloadRoute {
  return { ...base(name, definition), kind: "download", handle: definition.handle };
}

export function passedRoute<Name extends PassedName>(
  name: Name,
  definition: Definition & { handle: (call: PassedCall<PassedOutput<Name>>) => Promise<void> },
): PassedRoute {
  const { passed: body, answer }: { passed: z.ZodType; answer: z.ZodType } = CONTRACT[name];
  return { ...base(name, definition), kind: "passed", body, answer, handle: definition.handle };
}

export function signedRoute(name: SignedName, summary: string): SignedRoute {
  const { signed: body, receipt } = CONTRACT[name];
  return { ...addressed(name), kind: "signed", summary, body, receipt };
}
