import type { IncomingHttpHeaders } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import {
  RequestError,
  SIGN_IN_CODES_PATH,
  SIGN_IN_PATH,
  SIGN_OUT_PATH,
  type SignedIn,
  type SignedOut,
  type Unready,
} from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { Hono, type Context } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { DEFAULT_TENANT } from "@tandem/storage";
import type { TenantHandler } from "./tenant-handler.ts";
import type { TenantHandlers } from "./tenant-handlers.ts";
import { notValid, requireScope, type Authorizer } from "../http/access/authorize.ts";
import type { Logger } from "../http/create-logger.ts";
import { ACP_METHODS, ACP_PATH } from "../http/acp-path.ts";
import { forwardedId } from "../http/request/forwarded-id.ts";
import type { EntranceGuard } from "../http/access/entrance-guard.ts";
import { DELIVERY_PATH, DeliveryIntake, isDeliveryPath } from "./delivery-intake.ts";
import { errorReply } from "../http/error-reply.ts";
import type { Exchange } from "../http/request/exchange.ts";
import { routeTable } from "../http/route-table.ts";
import { refusedRoutes } from "../http/routes/server/refused-routes.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { METRICS_PATH, metricsResponse } from "../http/serve-metrics.ts";
import type { DocsFiles } from "../http/page/docs-files.ts";
import { LOGIN_RETURN_PATH, loginReturn } from "../http/page/login-return.ts";
import type { PageFiles } from "../http/page/page-files.ts";
import { readCodeParams, readSignIn, type SignIn } from "../http/page/sign-in.ts";
import { STORE_TROUBLES, type StoreTrouble } from "../http/store-check.ts";
import { TAKEOVER_QUERY } from "../http/takeover-query.ts";
import { WireError } from "../http/wire-error.ts";

interface Surroundings {
  Bindings: HttpBindings & { exchange: Exchange };
  Variables: { token: TokenRow; handler: TenantHandler };
}

/** The server's state, as the app sees it. */
export interface Readiness {
  /** Why the server cannot serve requests; undefined if it can. */
  trouble(): Promise<"starting" | "stopping" | StoreTrouble | undefined>;
  /** Called before the server says that it has no database, if the question is about takeovers: see `TAKEOVER_QUERY`. */
  promiseNoTakeover(): void;
  /**
   * Resolves with true when no process of a session runs here that another worker has taken over; with false if the query does
   * not ask that: see `askAboutTaken`.
   */
  endTaken(query: Record<string, string>): Promise<boolean>;
  /** Whether the server refuses new work. */
  readonly isStopping: boolean;
}

const HEALTH_PATHS = new Set(["/healthz", "/readyz"]);
const MCP_PATH = "/mcp";
const MCP_METHODS = ["GET", "POST", "DELETE"] as const;

/** The HTTP app. The guard and the token check run before any route. */
export function createApp(parts: {
  guard: EntranceGuard;
  authorizer: Authorizer;
  handlers: TenantHandlers;
  readiness: Readiness;
  signIn: SignIn;
  /** Undefined if no page is served. */
  page: PageFiles | undefined;
  /** Undefined if no documentation is served. */
  docs: DocsFiles | undefined;
  /** Undefined if metrics are off. */
  metrics: ServerMetrics | undefined;
  logger: Logger;
}): Hono<Surroundings> {
  const { guard, authorizer, handlers, readiness, signIn, page, docs, metrics, logger } = parts;
  const hasAcp = handlers.own.acp !== undefined;
  // Hono's default router is no faster here and delays the first request by about 15 ms while it is built.
  const app = new Hono<Surroundings>({ router: new TrieRouter() });

  app.use(async (c, next) => {
    const { incoming, exchange } = c.env;
    if (page && c.req.method === "GET" && c.req.path === LOGIN_RETURN_PATH) {
      guard.checkHost(incoming.headers);
      return loginReturn(new URL(c.req.url).searchParams);
    }
    const origin = guard.check(incoming.headers);
    if (origin !== undefined) allowOrigin(c, origin);
    if (origin !== undefined && c.req.method === "OPTIONS") return preflight(incoming.headers);
    const wants = {
      encoding: incoming.headers["accept-encoding"]?.toString() ?? "",
      tag: incoming.headers["if-none-match"] ?? "",
    };
    const file =
      (await docs?.answer(c.req.method, c.req.path, wants)) ??
      (await page?.answer(c.req.method, c.req.path, {
        ...wants,
        retireCookie: () => signIn.retireCookie(incoming.headers),
      }));
    if (file) return file;
    const isSigningIn = c.req.path === SIGN_IN_PATH && c.req.method === "POST";
    // A delivery has a signature instead, which its trigger checks.
    const isDelivery = c.req.method === "POST" && isDeliveryPath(c.req.path);
    if (!HEALTH_PATHS.has(c.req.path) && !isSigningIn && !isDelivery) {
      // The page needs neither of the two, so its key is not valid there.
      const allowsPage = c.req.path !== MCP_PATH && c.req.path !== ACP_PATH;
      const token = await authorizer.authenticate(incoming, { allowsPage });
      exchange.token = token.id;
      c.set("token", token);
      // From here on, a request reaches only the services of its own tenant.
      const handler = token.tenant === DEFAULT_TENANT ? handlers.own : await handlers.of(token.tenant);
      if (!handler) throw notValid();
      c.set("handler", handler);
      // Hono would answer HEAD by running GET, and so open a stream without a reader.
      if (c.req.method === "HEAD") throw notAllowed(allowedAt(c.req.path));
    }
    return next();
  });

  app.get("/healthz", () => new Response(null, { status: 204 }));
  app.get("/readyz", async (c) => {
    // At once: whether there is a database takes seconds to find out if there is none.
    if (await readiness.endTaken(c.req.query())) return new Response(null, { status: 204 });
    const reason = await readiness.trouble();
    const hasDatabase = !STORE_TROUBLES.some((trouble) => trouble === reason);
    if (!hasDatabase && c.req.query(TAKEOVER_QUERY) !== undefined) readiness.promiseNoTakeover();
    if (reason === undefined) return new Response(null, { status: 204 });
    return Response.json({ reason } satisfies Unready, { status: 503 });
  });

  app.post(SIGN_IN_PATH, async (c) => {
    const token = await signIn.exchange(await readSignIn(c.env.incoming));
    c.env.exchange.token = token.id;
    return Response.json({ type: "signed_in" } satisfies SignedIn);
  });
  app.post(SIGN_OUT_PATH, async (c) => {
    const token = c.get("token");
    requireScope(token, "read");
    await signIn.leave(token);
    return Response.json({ type: "signed_out" } satisfies SignedOut);
  });
  app.post(SIGN_IN_CODES_PATH, async (c) => {
    const token = c.get("token");
    requireScope(token, "admin");
    const { tenant = token.tenant, name } = await readCodeParams(c.env.incoming);
    const isOwn = tenant === token.tenant;
    // Only the operator may create a link for another tenant.
    if (!isOwn && (token.tenant !== DEFAULT_TENANT || !(await handlers.of(tenant)))) {
      throw new RequestError("not_found", `There is no tenant ${tenant}.`);
    }
    return Response.json(await signIn.createCode({ tenant, ...(name !== undefined && { name }) }));
  });

  const intake = new DeliveryIntake(handlers);
  app.post(DELIVERY_PATH, (c) => {
    if (readiness.isStopping) throw new RequestError("unavailable", "The server is stopping.");
    return intake.take(c.env.incoming, c.req.param("trigger_id"), c.req.query("tenant"));
  });

  if (metrics) {
    app.get(METRICS_PATH, (c) => {
      const token = c.get("token");
      // Metrics cover all tenants, so they are the operator's.
      if (token.tenant !== DEFAULT_TENANT) throw nothingHere();
      requireScope(token, "read");
      return metricsResponse(metrics);
    });
  }
  for (const route of routeTable) {
    app.on(route.method, route.path, (c) => {
      const token = c.get("token");
      if (route.operator && token.tenant !== DEFAULT_TENANT) throw nothingHere();
      // The runner checks a worker's token, which has no scope.
      if (!token.worker) requireScope(token, route.scope);
      if (readiness.isStopping && route.method !== "GET") {
        throw new RequestError("unavailable", "The server is stopping.");
      }
      const { incoming, outgoing, exchange } = c.env;
      const { searchParams: search } = new URL(c.req.url);
      const { begun } = exchange;
      return c.get("handler").runner.run(route, { incoming, outgoing, token, search, begun, params: c.req.param() });
    });
  }
  app.on([...MCP_METHODS], MCP_PATH, (c) => {
    const token = c.get("token");
    requireScope(token, "read");
    if (readiness.isStopping && c.req.method !== "DELETE") {
      throw new RequestError("unavailable", "The server is stopping.");
    }
    const { mcp, routers } = c.get("handler");
    if (routers.mcp && forwardedId(c.env.incoming) === undefined) return routers.mcp.handle(c.env);
    return mcp.handle(c.req.raw, { token, incoming: c.env.incoming, outgoing: c.env.outgoing });
  });
  if (hasAcp) {
    app.on([...ACP_METHODS], ACP_PATH, (c) => {
      const token = c.get("token");
      requireScope(token, "run");
      if (readiness.isStopping && c.req.method !== "DELETE") {
        throw new RequestError("unavailable", "The server is stopping.");
      }
      const { acp, routers } = c.get("handler");
      if (!acp) throw nothingHere();
      if (routers.acp && forwardedId(c.env.incoming) === undefined) return routers.acp.handle(c.env);
      return acp.handle(c.req.method, { token, incoming: c.env.incoming, outgoing: c.env.outgoing });
    });
  }
  for (const { path, code, reason } of refusedRoutes) {
    const refuse = (c: Context<Surroundings>): never => {
      requireScope(c.get("token"), "read");
      throw new RequestError(code, reason);
    };
    app.all(path, refuse).all(`${path}/*`, refuse);
  }
  for (const path of new Set([
    ...routeTable.map((route) => route.path),
    MCP_PATH,
    ...(hasAcp ? [ACP_PATH] : []),
    ...HEALTH_PATHS,
  ])) {
    app.all(path, (c) => {
      throw notAllowed(HEALTH_PATHS.has(path) ? "GET, HEAD" : allowedAt(c.req.path));
    });
  }
  app.notFound(() => {
    throw nothingHere();
  });

  app.onError((error, c) => {
    const { exchange } = c.env;
    const reply = errorReply(error, exchange.id);
    if (reply.unexpected) logger.error({ err: error, request_id: exchange.id }, "a request failed unexpectedly");
    else if (reply.status === 503)
      logger.warn({ err: error, request_id: exchange.id }, "a request could not be served");
    return new Response(reply.body, { status: reply.status, headers: reply.headers });
  });
  return app;
}

const nothingHere = (): RequestError => new RequestError("not_found", "There is nothing at this address.");

const notAllowed = (allow: string): WireError =>
  new WireError("method_not_allowed", `This address takes ${allow || "no such method"}.`, { headers: { allow } });

function allowedAt(path: string): string {
  if (path === MCP_PATH) return MCP_METHODS.join(", ");
  if (path === ACP_PATH) return ACP_METHODS.join(", ");
  const matches = (pattern: string): boolean =>
    new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+").replaceAll(".", String.raw`\.`)}$`).test(path);
  const methods = routeTable.filter((route) => matches(route.path)).map(({ method }) => method);
  return [...new Set(methods)].join(", ");
}

/** Only for origins in the settings. */
function allowOrigin(c: Context<Surroundings>, origin: string): void {
  c.env.outgoing.setHeader("access-control-allow-origin", origin);
  c.env.outgoing.setHeader(
    "access-control-expose-headers",
    "request-id, x-should-retry, mcp-session-id, acp-connection-id",
  );
  c.env.outgoing.setHeader("vary", "origin");
}

/** An allowed page may send any header: the official client has a dozen of its own. */
function preflight(headers: IncomingHttpHeaders): Response {
  const wanted = headers["access-control-request-headers"] ?? "";
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": /^[\w, -]*$/.test(wanted) ? wanted : "",
      "access-control-max-age": "600",
    },
  });
}
