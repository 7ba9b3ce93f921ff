import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ReceivedRequest } from "../received-request.ts";
import type { SideAnswer } from "./side-routes.ts";

/** Outcome of a token refresh: granted (each refresh token once, like the real service), rejected, or failed. */
export type RefreshOutcome = "grant" | "invalid_grant" | "server_error";

export type SubscriptionType = "pro" | "max" | "team" | "enterprise";

const accountId = "00000000-0000-4000-8000-00000000acc0";
const organizationId = "00000000-0000-4000-8000-000000000019";

/** Simulates Claude's account service: profile, token refresh, roles, usage. All people and tokens are fake. */
export class LoginRoutes {
  readonly #spent = new Set<string>();

  answer(request: ReceivedRequest, outcome: RefreshOutcome, subscription: SubscriptionType): SideAnswer | undefined {
    const { pathname } = new URL(request.path, "http://rehearsal");
    switch (`${request.method} ${pathname}`) {
      case "POST /v1/oauth/token":
        return this.#refresh(request, outcome);
      case "GET /api/oauth/profile":
        return ok("oauth profile", profile(subscription));
      case "GET /api/oauth/claude_cli/roles":
        return ok("oauth roles", {
          organization_uuid: organizationId,
          organization_name: "Rehearsal",
          organization_role: "admin",
        });
      case "GET /api/oauth/usage":
        return ok("oauth usage", { five_hour: null, seven_day: null, seven_day_opus: null });
      default:
        return undefined;
    }
  }

  #refresh(request: ReceivedRequest, outcome: RefreshOutcome): SideAnswer {
    const answeredBy = "oauth token";
    if (outcome === "server_error") return { answeredBy, status: 500, body: { error: "server_error" } };
    const token = refreshBody.safeParse(request.body).data?.refresh_token;
    if (outcome === "invalid_grant" || token === undefined || this.#spent.has(token)) {
      const body = { error: "invalid_grant", error_description: "Refresh token not found or invalid" };
      return { answeredBy, status: 400, body };
    }
    this.#spent.add(token);
    return ok(answeredBy, {
      token_type: "Bearer",
      access_token: madeUpToken("oat01"),
      refresh_token: madeUpToken("ort01"),
      expires_in: 28_800,
      scope: loginScopes.join(" "),
      organization: { uuid: organizationId, name: "Rehearsal" },
      account: { uuid: accountId, email_address: "rehearsal@example.com" },
    });
  }
}

export const loginScopes: readonly string[] = [
  "user:inference",
  "user:profile",
  "user:sessions:claude_code",
  "user:mcp_servers",
];

const refreshBody = z.union([
  z.looseObject({ refresh_token: z.string() }),
  z.string().transform((form) => ({ refresh_token: new URLSearchParams(form).get("refresh_token") ?? undefined })),
]);

/** Shaped like a Claude token, but recognisably fake. */
export function madeUpToken(kind: "oat01" | "ort01"): string {
  return `sk-ant-${kind}-${madeUpMark}-${randomUUID()}`;
}

export const madeUpMark = "made-up-for-rehearsal";

function ok(answeredBy: string, body: unknown): SideAnswer {
  return { answeredBy, status: 200, body };
}

function profile(subscription: SubscriptionType) {
  return {
    account: {
      uuid: accountId,
      email: "rehearsal@example.com",
      full_name: "Rehearsal",
      display_name: "Rehearsal",
      created_at: "2026-01-01T00:00:00Z",
      has_claude_max: subscription === "max",
      has_claude_pro: subscription === "pro",
    },
    organization: {
      uuid: organizationId,
      name: "Rehearsal",
      organization_type: `claude_${subscription}`,
      rate_limit_tier: rateLimitTier(subscription),
      billing_type: "stripe_subscription",
      has_extra_usage_enabled: false,
      subscription_status: "active",
      subscription_created_at: "2026-01-01T00:00:00Z",
    },
  };
}

export function rateLimitTier(subscription: SubscriptionType): string {
  return subscription === "max" ? "default_claude_max_5x" : "default_claude_ai";
}
