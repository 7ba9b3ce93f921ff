import type { RefusedRoute } from "../../route.ts";

/** A part of Anthropic's API. Not 501, which clients would retry. */
const missing = (name: string, reason: string): RefusedRoute => ({
  kind: "refused",
  name,
  path: `/v1/${name.replaceAll(".", "/")}`,
  code: "not_found",
  isAnthropic: true,
  reason,
});

const THE_API = "Tandem serves Anthropic's Managed Agents API: send messages into a session, at /v1/sessions.";

/** An address that other servers have, and that people try. */
const foreign = (path: RefusedRoute["path"], what: string, there: string = THE_API): RefusedRoute => ({
  kind: "refused",
  name: path.replace(/^\/(v1\/)?/, "").replaceAll("/", "."),
  path,
  code: "not_found",
  reason: `There is no ${what} here. ${there}`,
});

/**
 * Parts of Anthropic's API that Tandem does not support, and addresses of other APIs. Each covers all paths below its own.
 */
export const refusedRoutes: RefusedRoute[] = [
  missing(
    "messages.batches",
    "Tandem has no batches of messages. Send them one by one to /v1/messages, or into sessions.",
  ),
  missing("batches", "Tandem has no batches. Send messages one by one to /v1/messages, or into sessions."),
  missing("dreams", "Tandem has no dreams. A session with a memory store can review what earlier ones have learned."),
  missing("user_profiles", "Tandem has no user profiles: they inform Anthropic about a platform's own customers."),
  missing("tunnels", "Tandem has no tunnels: it runs in your network and reaches its MCP servers directly."),
  missing("organizations", "Tandem has no organizations. Its operator manages tenants and tokens."),
  foreign("/v1/complete", "text completion"),
  foreign("/v1/chat/completions", "OpenAI-compatible API"),
  foreign("/v1/responses", "OpenAI-compatible API"),
  foreign("/v1/embeddings", "embeddings API", "The context's search is at GET /v1/context/search."),
  foreign("/.well-known/agent-card.json", "A2A agent", "For agents there are ACP at /acp and MCP at /mcp."),
  foreign("/.well-known/agent.json", "A2A agent", "For agents there are ACP at /acp and MCP at /mcp."),
  foreign(
    "/agui",
    "AG-UI endpoint",
    "For user interfaces there are ACP at /acp and events at /v1/sessions/ID/events/stream.",
  ),
];
