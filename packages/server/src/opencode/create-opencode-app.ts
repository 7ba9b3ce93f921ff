import type { HttpBindings } from "@hono/node-server";
import { PERMISSION_MODES, RequestError, type PermissionMode } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { Logger } from "../http/create-logger.ts";
import type { EntranceGuard } from "../http/access/entrance-guard.ts";
import { hasScope, notValid, requireScope, secretOf, type Authorizer } from "../http/access/authorize.ts";
import type { Exchange } from "../http/request/exchange.ts";
import { readJson } from "../http/request/read-body.ts";
import type { OpenStreams } from "../http/sse/open-streams.ts";
import { opencodeError } from "./opencode-error.ts";
import { opencodeRoutes } from "./routes/opencode-routes.ts";
import type { OpencodeTenants, OpencodeTenant } from "./opencode-tenants.ts";
import { REFUSED } from "./routes/refused-routes.ts";

interface Surroundings {
  Bindings: HttpBindings & { exchange: Exchange };
  Variables: { token: TokenRow; tenant: OpencodeTenant };
}

export interface OpencodeAppOptions {
  guard: EntranceGuard;
  authorizer: Authorizer;
  tenants: OpencodeTenants;
  streams: OpenStreams;
  readiness: { readonly isStopping: boolean };
  maxJsonBytes: number;
  logger: Logger;
}

/** opencode's API, version 1. The guard and the token check run before any route, as on Tandem's own listener. */
export function createOpencodeApp(options: OpencodeAppOptions): Hono<Surroundings> {
  const { guard, authorizer, tenants, readiness, logger } = options;
  const app = new Hono<Surroundings>({ router: new TrieRouter() });

  app.use(async (c, next) => {
    const { incoming, exchange } = c.env;
    guard.check(incoming.headers);
    const token = await authorizer.authenticateSecret(
      passwordOf(incoming.headers.authorization) ?? secretOf(incoming.headers),
    );
    exchange.token = token.id;
    const tenant = await tenants.of(token.tenant);
    if (!tenant) throw notValid();
    if (readiness.isStopping && c.req.method !== "GET")
      throw new RequestError("unavailable", "The server is stopping.");
    c.set("token", token);
    c.set("tenant", tenant);
    return next();
  });

  for (const route of opencodeRoutes) {
    app.on(route.method, route.path, async (c) => {
      const token = c.get("token");
      requireScope(token, route.scope);
      const { incoming, outgoing } = c.env;
      const gone = new AbortController();
      outgoing.once("close", () => gone.abort());
      const query = new URL(c.req.url).searchParams;
      const tenant = c.get("tenant");
      const answer = await route.handle({
        ...tenant,
        streams: options.streams,
        token,
        modes: modesOf(token),
        params: c.req.param(),
        query,
        body: route.method === "GET" ? undefined : await readJson(incoming, options.maxJsonBytes),
        directory: directoryOf(query, incoming.headers["x-opencode-directory"]) ?? tenant.host.folder,
        signal: gone.signal,
        incoming,
        outgoing,
      });
      return answer instanceof Response ? answer : Response.json(answer);
    });
  }
  for (const { methods, path, why } of REFUSED) {
    for (const method of methods) {
      const refuse = (): never => {
        throw new RequestError("not_supported", why);
      };
      app.on(method, path, refuse).on(method, `${path}/*`, refuse);
    }
  }
  app.notFound((c) => {
    throw new RequestError("not_found", `opencode's ${c.req.method} ${c.req.path} is not served by Tandem.`);
  });
  app.onError((error, c) => {
    const { status, headers, body, unexpected } = opencodeError(error, c.env.exchange.id);
    if (unexpected)
      logger.error({ err: error, request_id: c.env.exchange.id }, "opencode: a request failed unexpectedly");
    // opencode's clients send the token as the password of Basic authentication.
    const login = status === 401 && { "www-authenticate": 'Basic realm="Tandem"' };
    return new Response(body, { status, headers: { ...headers, ...login } });
  });
  return app;
}

/** The token as the password of Basic authentication; the name does not matter. */
function passwordOf(header: string | undefined): string | undefined {
  const encoded = /^Basic +([\w+/=-]+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString();
  const end = text.indexOf(":");
  return end < 0 ? undefined : text.slice(end + 1);
}

/** Clients name their folder in the query, or encoded in a header. */
function directoryOf(query: URLSearchParams, header: string | string[] | undefined): string | undefined {
  const named = query.get("directory");
  if (named !== null && named !== "") return named;
  if (typeof header !== "string" || header === "") return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** Bypass mode needs the scope `admin`, and Claude Code refuses it to root, except in a sandbox. */
function modesOf(token: TokenRow): readonly PermissionMode[] {
  const isRoot = process.getuid?.() === 0 && process.env["IS_SANDBOX"] !== "1";
  const mayBypass = hasScope(token, "admin") && !isRoot;
  return PERMISSION_MODES.filter((mode) => mode !== "dontAsk" && (mode !== "bypassPermissions" || mayBypass));
}
