import { randomUUID } from "node:crypto";
import type { ReceivedRequest } from "./received-request.ts";

export interface RehearsedModel {
  readonly id: string;
  readonly displayName: string;
}

export const defaultModels: readonly RehearsedModel[] = [
  { id: "claude-opus-5", displayName: "Claude Opus 5" },
  { id: "claude-sonnet-5-5", displayName: "Claude Sonnet 5.5" },
  { id: "claude-haiku-5-5", displayName: "Claude Haiku 5.5" },
  { id: "claude-opus-4-8", displayName: "Claude Opus 4.8" },
  { id: "claude-sonnet-4-5-20250929", displayName: "Claude Sonnet 4.5" },
];

export interface SideAnswer {
  readonly answeredBy: string;
  readonly status: number;
  readonly body: unknown;
}

/** Answers everything that is asked of Anthropic's API and is no question to a model. Harmless, never scripted. */
export function answerSideRoute(request: ReceivedRequest, models: readonly RehearsedModel[]): SideAnswer {
  const path = new URL(request.path, "http://rehearsal").pathname;
  const route = `${request.method} ${path}`;
  if (route === "HEAD /" || route === "GET /") return ok("probe", { rehearsal: true });
  if (route === "POST /v1/messages/count_tokens")
    return ok("count_tokens", { input_tokens: countTokens(request.body) });
  if (route === "GET /v1/models") return ok("models", listModels(models));
  if (route === "GET /v1/mcp_servers") return ok("mcp_servers", { data: [], has_more: false, next_page: null });
  if (route.startsWith("POST /api/event_logging/")) return ok("event_logging", {});
  if (route.startsWith("GET /v1/models/")) {
    const model = models.find(({ id }) => id === decodeURIComponent(path.slice("/v1/models/".length)));
    if (model) return ok("models", describeModel(model));
  }
  if (request.method === "GET" && path.endsWith("/ai/config")) return ok("models", listGatewayModels(models));
  if (route === "GET /v1/credits") return ok("credits", { balance: "100.00", total_used: "0.00" });
  if (route === "POST /token") return ok("google token", googleToken());
  return {
    answeredBy: "not_found",
    status: 404,
    body: { type: "error", error: { type: "not_found_error", message: `The rehearsal does not serve ${route}.` } },
  };
}

function ok(answeredBy: string, body: unknown): SideAnswer {
  return { answeredBy, status: 200, body };
}

/** About four characters to a token: steady, and near enough for a rehearsal. */
function countTokens(body: unknown): number {
  return Math.ceil(JSON.stringify(body).length / 4);
}

function listModels(models: readonly RehearsedModel[]) {
  return {
    data: models.map(describeModel),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}

function describeModel({ id, displayName }: RehearsedModel) {
  return {
    type: "model",
    id,
    display_name: displayName,
    created_at: "2026-01-01T00:00:00Z",
    lifecycle: "active",
    line: /opus|sonnet|haiku/.exec(id)?.[0] ?? null,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}

function listGatewayModels(models: readonly RehearsedModel[]) {
  return {
    models: models.map(({ id, displayName }) => ({
      id: `anthropic/${id}`,
      name: displayName,
      description: null,
      pricing: null,
      specification: { specificationVersion: "v4", provider: "anthropic", modelId: `anthropic/${id}` },
      modelType: "language",
    })),
  };
}

/** What Google's token endpoint gives for a service account's or a user's grant. */
function googleToken() {
  return {
    access_token: `made-up-google-token-${randomUUID()}`,
    expires_in: 3599,
    token_type: "Bearer",
    scope: "https://www.googleapis.com/auth/cloud-platform",
  };
}
