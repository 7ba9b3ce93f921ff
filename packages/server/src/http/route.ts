import {
  CONTRACT,
  ENDPOINTS,
  type BodyOutput,
  type DownloadName,
  type EndpointName,
  type FormOutput,
  type JsonName,
  type ParamsOf,
  type QueryOutput,
  type ResponseInput,
  type StreamName,
  type UploadName,
} from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Scope, TokenRow, TokenStore } from "@tandem/storage";
import { z } from "zod";
import type { ServedContext } from "../served-context.ts";
import type { Caretaker } from "../caretaker.ts";
import type { Realm } from "../tenants/realm.ts";
import type { TenantOffice, TenantStanding } from "../tenants/tenant-office.ts";
import type { EventStream } from "./sse/event-stream.ts";
import type { SessionHubs } from "./sse/session-hubs.ts";

// Every route is one entry of a table. What answers requests, what checks them, the OpenAPI document, the reference in the
// docs and the tests that walk all routes come from that table, so that none of them can say something else.

export interface Call<Params = Record<string, string>, Query = unknown, Body = unknown> {
  engine: Engine;
  /** Undefined where the project has none. */
  context: ServedContext | undefined;
  /** Undefined where nobody has looked after the server: in tests. */
  caretaker: Caretaker | undefined;
  /** Whose realm this is, and the token's. */
  tenant: Realm["tenant"];
  /** What the tenant takes and may; undefined where nothing is counted. */
  standing: TenantStanding | undefined;
  /** Undefined for all but the operator, and where there are no tenants. */
  office: TenantOffice | undefined;
  /** Those that the tenant may know of. */
  tokens: TokenStore;
  token: TokenRow;
  params: Params;
  query: Query;
  body: Body;
  header: (name: string) => string | undefined;
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Asks all other processes of the fleet for what is at a path, in the same name; what those say that answer. */
  askOthers: (path: string) => Promise<Readonly<Record<string, unknown>>[]>;
}

/**
 * Where in a fleet a request is done; a process of its own does everything itself.
 * - `here`: where it arrives, for the store has all that it needs;
 * - `writer`: by who writes the session now, else where its folder is, else here;
 * - `folder`: the same, but never where the session's folder is not;
 * - `worker`: by a process that runs sessions and has what the request names: a folder, an environment's needs;
 * - `context`: by a process that has the project's context;
 * - `each`: by all that run sessions, and the answers are put together.
 */
export type At = "here" | "writer" | "folder" | "worker" | "context" | "each";

interface RouteBase {
  /** `agents.create`: the operation's id; what stands before the dot is its section. */
  name: string;
  method: "GET" | "POST" | "DELETE";
  /** With `:name` for what varies. */
  path: `/${string}`;
  /** What a token must be allowed to do. */
  scope: Scope;
  at: At;
  /** One sentence without its full stop. */
  summary: string;
  /** Ours, not Anthropic's. */
  extension: boolean;
  /** About the machine itself: for other tenants than the default one, there is nothing at this address. */
  operator?: boolean;
  /** It may take as long as making a worktree ready takes. */
  patient: boolean;
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
  /** Fields of the form, beside `file`. */
  body: z.ZodObject;
  response: z.ZodType;
  handle(call: Call & { upload: { filename: string; mimeType: string; content: Uint8Array } }): Promise<unknown>;
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
  /** What the data of each frame is. */
  frame: z.ZodType;
  /** Everything that may be refused is to be refused before `open` is called. */
  handle(call: Call, streams: { hubs: SessionHubs; open: () => EventStream }): Promise<void>;
}

/** A part of Anthropic's API that Tandem does not have, with all that is below its path. */
export interface RefusedRoute {
  kind: "refused";
  name: string;
  path: `/${string}`;
  /** A sentence. */
  reason: string;
}

export type Route = JsonRoute | UploadRoute | DownloadRoute | StreamRoute;

/** Whether a stream goes on after the event whose id is given back to it as `Last-Event-ID`. */
export const isResumable = ({ kind, name }: Route): boolean => kind === "stream" && name.includes("events");

const noQuery = z.strictObject({});

interface Definition {
  scope: Scope;
  /** No default, so that every new route decides it. */
  at: At;
  summary: string;
  extension?: boolean;
  operator?: boolean;
  patient?: boolean;
}

/** What name and definition have in common for every kind of route; the shapes come from the contract. */
function base(name: EndpointName, definition: Definition): RouteBase {
  const [method, path] = ENDPOINTS[name].split(" ") as [RouteBase["method"], RouteBase["path"]];
  const shapes = CONTRACT[name];
  const query = "query" in shapes ? shapes.query : noQuery;
  return { extension: false, patient: false, ...definition, name, method, path, query };
}

// The table holds handlers of any call. `RouteRunner` passes a handler only calls that were parsed by the schemas of the same
// entry of the contract, so the types that the casts below erase hold at run time.

export function jsonRoute<Name extends JsonName>(
  name: Name,
  definition: Definition & {
    handle: (call: Call<ParamsOf<Name>, QueryOutput<Name>, BodyOutput<Name>>) => Promise<ResponseInput<Name>>;
  },
): JsonRoute {
  const { body, response }: { body?: z.ZodType; response: z.ZodType } = CONTRACT[name];
  return { ...base(name, definition), kind: "json", body, response, handle: definition.handle as JsonRoute["handle"] };
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
  return {
    ...base(name, definition),
    kind: "stream",
    frame: CONTRACT[name].frame,
    handle: definition.handle as StreamRoute["handle"],
  };
}

export function uploadRoute<Name extends UploadName>(
  name: Name,
  definition: Definition & {
    handle: (
      call: Call<ParamsOf<Name>, unknown, FormOutput<Name>> & Pick<Parameters<UploadRoute["handle"]>[0], "upload">,
    ) => Promise<ResponseInput<Name>>;
  },
): UploadRoute {
  const { form: body, response } = CONTRACT[name];
  return {
    ...base(name, definition),
    kind: "upload",
    body,
    response,
    handle: definition.handle as UploadRoute["handle"],
  };
}

export function downloadRoute<Name extends DownloadName>(
  name: Name,
  definition: Definition & { handle: (call: Call<ParamsOf<Name>>) => Promise<Download> },
): DownloadRoute {
  return { ...base(name, definition), kind: "download", handle: definition.handle as DownloadRoute["handle"] };
}
