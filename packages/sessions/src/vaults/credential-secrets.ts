import {
  RequestError,
  type CredentialAuthParams,
  type CredentialAuthUpdate,
  type VaultCredentialAuth,
} from "@tandem/protocol";
import type { SecretField } from "./stored-vault.ts";

/** A credential split into the part that clients may see, and secrets in the clear. Never store or log it. */
export interface SplitAuth {
  auth: VaultCredentialAuth;
  secrets: Partial<Record<SecretField, string>>;
}

export function splitAuth(params: CredentialAuthParams, now: number): SplitAuth {
  switch (params.type) {
    case "static_bearer": {
      const { token, ...auth } = params;
      return { auth, secrets: { token } };
    }
    case "environment_variable": {
      const { secret_value: value, injection_location: at, ...auth } = params;
      const location = at ? { header: at.header ?? false, body: at.body ?? false } : { header: true, body: true };
      checkLocation(location);
      return { auth: { ...auth, injection_location: location }, secrets: { secret_value: value } };
    }
    case "mcp_oauth": {
      const { access_token: access, refresh, expires_at: expires, ...rest } = params;
      const auth = { ...rest, expires_at: futureTime(expires, now) ?? null };
      if (!refresh) return { auth: { ...auth, refresh: null }, secrets: { access_token: access } };
      const { refresh_token: token, token_endpoint_auth: endpoint, resource, scope, ...named } = refresh;
      return {
        auth: {
          ...auth,
          refresh: {
            ...named,
            token_endpoint_auth: { type: endpoint.type },
            resource: resource || null,
            scope: scope || null,
          },
        },
        secrets: {
          access_token: access,
          refresh_token: token,
          ...(endpoint.type !== "none" && { client_secret: endpoint.client_secret }),
        },
      };
    }
  }
}

/** The next state, with the secrets that change. */
export function changeAuth(current: VaultCredentialAuth, change: CredentialAuthUpdate, now: number): SplitAuth {
  if (current.type === "static_bearer" && change.type === "static_bearer") {
    return { auth: current, secrets: given({ token: change.token }) };
  }
  if (current.type === "environment_variable" && change.type === "environment_variable") {
    const location = { ...current.injection_location, ...set(change.injection_location) };
    checkLocation(location);
    const auth = { ...current, networking: change.networking ?? current.networking, injection_location: location };
    return { auth, secrets: given({ secret_value: change.secret_value }) };
  }
  if (current.type === "mcp_oauth" && change.type === "mcp_oauth") {
    const refresh = changeRefresh(current.refresh, change.refresh ?? undefined);
    return {
      auth: {
        ...current,
        expires_at: futureTime(change.expires_at, now) ?? current.expires_at,
        refresh: refresh.auth,
      },
      secrets: { ...given({ access_token: change.access_token }), ...refresh.secrets },
    };
  }
  throw invalid(`auth.type: the credential is of the type ${current.type}, which cannot change`);
}

type Refresh = Extract<VaultCredentialAuth, { type: "mcp_oauth" }>["refresh"];
type RefreshUpdate = NonNullable<Extract<CredentialAuthUpdate, { type: "mcp_oauth" }>["refresh"]>;

function changeRefresh(current: Refresh, change: RefreshUpdate | undefined) {
  if (!change) return { auth: current, secrets: {} };
  if (!current) {
    throw invalid("auth.refresh: the credential was created without it, and it cannot be added later");
  }
  const { refresh_token: token, scope, token_endpoint_auth: endpoint } = change;
  if (endpoint?.client_secret && current.token_endpoint_auth.type === "none") {
    throw invalid("auth.refresh.token_endpoint_auth: the credential has no client secret, and none can be added later");
  }
  const auth: Refresh = { ...current, scope: typeof scope === "string" ? scope || null : current.scope };
  return { auth, secrets: given({ refresh_token: token, client_secret: endpoint?.client_secret }) };
}

/** Without absent and null entries: both leave a secret as it is. */
const given = (secrets: Partial<Record<SecretField, string | null | undefined>>): SplitAuth["secrets"] =>
  Object.fromEntries(Object.entries(secrets).filter((entry) => typeof entry[1] === "string"));

const set = (location: { header?: boolean | undefined; body?: boolean | undefined } = {}) => ({
  ...(location.header !== undefined && { header: location.header }),
  ...(location.body !== undefined && { body: location.body }),
});

function checkLocation({ header, body }: { header: boolean; body: boolean }): void {
  if (!header && !body) throw invalid("auth.injection_location: expected header, body or both to be true");
}

/** Undefined if it is not given. */
function futureTime(text: string | null | undefined, now: number): string | undefined {
  if (typeof text !== "string") return undefined;
  if (Date.parse(text) <= now) throw invalid("auth.expires_at: expected a time in the future");
  return new Date(text).toISOString();
}

const invalid = (message: string): RequestError => new RequestError("invalid_request", `${message}.`);
