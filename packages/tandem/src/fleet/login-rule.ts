import { TandemError, type Payer } from "@tandem/protocol";

export type FleetRole = "all" | "server" | "worker";

/** Credentials of one person: a login, and a token made from a login. */
const PERSONAL: ReadonlySet<string> = new Set<Payer>(["claude_login", "claude_oauth_token"]);

/**
 * The tenant that owns this worker's personal login. Only that tenant's sessions use the login. Undefined for a shareable
 * credential. Throws if the worker would run other tenants' sessions on it.
 */
export function ownerOfLogin(
  role: FleetRole,
  tenants: readonly string[] | null,
  payer: Payer | "nobody",
): string | undefined {
  if (role !== "worker" || !PERSONAL.has(payer)) return undefined;
  const [owner, ...others] = tenants ?? [];
  if (owner !== undefined && others.length === 0) return owner;
  const whose = tenants === null ? "the sessions of all users" : `the sessions of ${tenants.join(" and ")}`;
  const what = payer === "claude_login" ? "your Claude login" : "a token of your Claude login";
  throw new TandemError("login_not_shared", `This worker would run ${whose} on ${what}, which is only for you.`, {
    fix:
      "Name only your own tenant, such as `--tenant default` if you alone use the fleet. For a worker that " +
      "others share, set llm.claudeCode.auth to api_key, or llm.claudeCode.baseUrl to a gateway with a key.",
  });
}
