import { Writable } from "node:stream";
import type { Engine } from "@tandem/sessions";
import type { Scope, Store } from "@tandem/storage";
import { createLogger } from "../http/create-logger.ts";
import { createToken } from "../http/access/create-token.ts";
import type { ServerSettings } from "../http/settings.ts";
import { startServer, type RunningServer, type ServerOptions } from "../app/start-server.ts";
import type { ServedContext } from "../served-context.ts";
import { memoryTokens } from "./memory-tokens.ts";

export interface TestServer extends RunningServer {
  /** The secret of a token with all scopes. */
  readonly secret: string;
  readonly tokens: Store["tokens"];
  /** A secret with only this scope. */
  secretFor(scope: Scope): Promise<string>;
  /** Log lines so far. */
  readonly log: readonly Record<string, unknown>[];
  /** Sends a request with the token of all scopes, unless another header is given. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

/** A server on a free loopback port that validates its own responses against their schemas. */
export async function startTestServer(parts: {
  engine: Engine;
  context?: ServedContext;
  setup?: ServerOptions["setup"];
  tokens?: Store["tokens"];
  check?: () => Promise<void>;
  settings?: Partial<ServerSettings>;
  page?: string;
  docs?: string;
  acp?: ServerOptions["acp"];
  /** Also serves opencode's clients, on a free port. */
  opencode?: ServerOptions["opencode"];
  fleet?: ServerOptions["fleet"];
  metrics?: ServerOptions["metrics"];
  tracing?: ServerOptions["tracing"];
  records?: Store["records"];
  clock?: ServerOptions["clock"];
  isStarting?: ServerOptions["isStarting"];
  promiseNoTakeover?: ServerOptions["promiseNoTakeover"];
  endTaken?: ServerOptions["endTaken"];
}): Promise<TestServer> {
  const tokens = parts.tokens ?? memoryTokens();
  const log: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      log.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    },
  });
  const server = await startServer({
    engine: parts.engine,
    context: () => parts.context,
    ...(parts.setup && { setup: parts.setup }),
    version: "1.2.3",
    store: { tokens, check: parts.check ?? (async () => undefined), records: parts.records },
    logger: createLogger({ level: "debug", destination }),
    settings: { port: 0, checkResponses: true, ...parts.settings },
    ...(parts.page !== undefined && { page: parts.page }),
    ...(parts.docs !== undefined && { docs: parts.docs }),
    ...(parts.acp && { acp: parts.acp }),
    ...(parts.opencode && { opencode: parts.opencode, opencodePort: 0 }),
    ...(parts.fleet && { fleet: parts.fleet }),
    ...(parts.isStarting && { isStarting: parts.isStarting }),
    ...(parts.promiseNoTakeover && { promiseNoTakeover: parts.promiseNoTakeover }),
    ...(parts.endTaken && { endTaken: parts.endTaken }),
    ...(parts.metrics && { metrics: parts.metrics }),
    tracing: parts.tracing,
    ...(parts.clock && { clock: parts.clock }),
  });
  const secretFor = async (scope: Scope) => (await createToken(tokens, { name: scope, scopes: [scope] })).secret;
  const secret = await secretFor("admin");
  return Object.assign(server, {
    secret,
    tokens,
    log,
    secretFor,
    request(path: string, init: RequestInit = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization") && !headers.has("x-api-key")) headers.set("authorization", `Bearer ${secret}`);
      return fetch(`${server.url}${path}`, { ...init, headers });
    },
  });
}
