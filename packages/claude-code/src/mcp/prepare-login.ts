import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkResourceAllowed, resourceUrlFromServerUrl } from "@modelcontextprotocol/sdk/shared/auth-utils.js";
import { RequestError } from "@tandem/protocol";
import type { McpFetch } from "./mcp-fetch.ts";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 262_144;

type AuthMethod = "none" | "client_secret_basic" | "client_secret_post";

/** The parts of an OAuth login that are needed when the browser comes back. */
export interface PreparedLogin {
  /** The page at which a person agrees. */
  authorizationUrl: string;
  issuer: string;
  /** The server names itself when the browser comes back (RFC 9207), so a return without it is not from there. */
  namesIssuer: boolean;
  codeVerifier: string;
  client: { id: string; auth: { type: "none" } | { type: Exclude<AuthMethod, "none">; secret: string } };
  tokenEndpoint: string;
  resource: string | null;
  scope: string | null;
}

/**
 * Finds the authorization server of an MCP server (protected resource metadata, then authorization server metadata), registers a
 * client unless one is given, and prepares the request with PKCE. `send` decides which addresses may be reached.
 */
export async function prepareLogin(
  serverUrl: string,
  options: {
    redirectUri: string;
    state: string;
    scope?: string | undefined;
    client?: { id: string; secret?: string | undefined } | undefined;
  },
  send: McpFetch["fetch"],
): Promise<PreparedLogin> {
  const fetchFn = limited(send);
  const { resource, scope: offered, authorizationServer } = await describeResource(serverUrl, fetchFn);
  const metadata = await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn });
  if (!metadata) throw refused(`${authorizationServer} publishes no metadata of an OAuth server`);
  checkMetadata(metadata, authorizationServer);
  const scope = options.scope ?? offered;
  const client = options.client
    ? givenClient(options.client, metadata)
    : await register(authorizationServer, metadata, options.redirectUri, scope, fetchFn);
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
    metadata,
    clientInformation: { client_id: client.id },
    redirectUrl: options.redirectUri,
    state: options.state,
    ...(scope !== undefined && { scope }),
    ...(resource && { resource }),
  });
  return {
    authorizationUrl: authorizationUrl.href,
    issuer: metadata.issuer,
    namesIssuer:
      "authorization_response_iss_parameter_supported" in metadata &&
      metadata.authorization_response_iss_parameter_supported === true,
    codeVerifier,
    client,
    tokenEndpoint: metadata.token_endpoint,
    resource: resource?.href ?? null,
    scope: scope ?? null,
  };
}

async function describeResource(
  serverUrl: string,
  fetchFn: McpFetch["fetch"],
): Promise<{ resource?: URL; scope?: string; authorizationServer: string }> {
  // The server's refusal may name the metadata and the scope.
  const refusal = await fetchFn(serverUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
  });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
  let found: OAuthProtectedResourceMetadata | undefined;
  try {
    const options = resourceMetadataUrl ? { resourceMetadataUrl } : {};
    found = await discoverOAuthProtectedResourceMetadata(serverUrl, options, fetchFn);
  } catch (error) {
    // Servers of the first version of the specification are their own authorization server. A redirect or a private address is
    // an error in any case.
    if (error instanceof RequestError) throw error;
  }
  const authorizationServer = found?.authorization_servers?.[0] ?? new URL("/", serverUrl).href;
  if (!found) return { authorizationServer, ...(scope !== undefined && { scope }) };
  const requestedResource = resourceUrlFromServerUrl(serverUrl);
  if (!checkResourceAllowed({ requestedResource, configuredResource: found.resource })) {
    throw refused(`its metadata describe another server: ${found.resource}`);
  }
  const wanted = scope ?? found.scopes_supported?.join(" ");
  return { resource: new URL(found.resource), authorizationServer, ...(wanted ? { scope: wanted } : {}) };
}

/** The metadata must be those of the server that was asked, and secrets go over TLS only. */
function checkMetadata(metadata: AuthorizationServerMetadata, asked: string): void {
  const withoutSlash = (text: string): string => text.replace(/\/$/, "");
  if (withoutSlash(metadata.issuer) !== withoutSlash(asked)) {
    throw refused(`the metadata of ${asked} name another issuer: ${metadata.issuer}`);
  }
  for (const url of [metadata.authorization_endpoint, metadata.token_endpoint]) {
    const { protocol, hostname } = new URL(url);
    // The first one is opened in a browser: another scheme would start another program of the person.
    const isPlainLocal = protocol === "http:" && isLoopback(hostname);
    if (protocol !== "https:" && !isPlainLocal) throw refused(`${url} is not an https URL`);
  }
  if (metadata.code_challenge_methods_supported && !metadata.code_challenge_methods_supported.includes("S256")) {
    throw refused(`${metadata.issuer} does not support PKCE`);
  }
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

async function register(
  authorizationServer: string,
  metadata: AuthorizationServerMetadata,
  redirectUri: string,
  scope: string | undefined,
  fetchFn: McpFetch["fetch"],
): Promise<PreparedLogin["client"]> {
  if (metadata.registration_endpoint === undefined) {
    throw refused(`${metadata.issuer} registers no clients by itself`, {
      fix: "Register a client there, and give its id (--client-id; if it has a secret, also --client-secret-env).",
    });
  }
  const registered = await registerClient(authorizationServer, {
    metadata,
    clientMetadata: {
      client_name: "Tandem",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: preferredMethod(metadata, false),
    },
    ...(scope !== undefined && { scope }),
    fetchFn,
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: given } = registered;
  if (secret === undefined || given === "none") return { id, auth: { type: "none" } };
  const method = given === "client_secret_basic" || given === "client_secret_post" ? given : undefined;
  return { id, auth: { type: method ?? withSecret(metadata), secret } };
}

const givenClient = (
  { id, secret }: { id: string; secret?: string | undefined },
  metadata: AuthorizationServerMetadata,
): PreparedLogin["client"] => ({
  id,
  auth: secret === undefined ? { type: "none" } : { type: withSecret(metadata), secret },
});

const withSecret = (metadata: AuthorizationServerMetadata): Exclude<AuthMethod, "none"> =>
  preferredMethod(metadata, true) === "client_secret_post" ? "client_secret_post" : "client_secret_basic";

function preferredMethod(
  { token_endpoint_auth_methods_supported: supported = [] }: AuthorizationServerMetadata,
  hasSecret: boolean,
): AuthMethod {
  const order = ["none", "client_secret_basic", "client_secret_post"] as const;
  const possible = order.filter((method) => method !== "none" || !hasSecret);
  return possible.find((method) => supported.includes(method)) ?? possible[0]!;
}

/** Every request has a deadline, and every answer a limit. */
function limited(send: McpFetch["fetch"]): McpFetch["fetch"] {
  return async (url, init) => {
    const response = await send(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { status, statusText, headers } = response;
    const chunks: Uint8Array[] = [];
    let length = 0;
    // The stream of an MCP server may not end: its content is not needed.
    if (headers.get("content-type")?.startsWith("text/event-stream")) await response.body?.cancel();
    else {
      for await (const chunk of response.body ?? []) {
        length += chunk.length;
        if (length > MAX_BYTES) throw refused(`the answer of ${new URL(url).host} is too large`);
        chunks.push(chunk);
      }
    }
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers });
  };
}

const refused = (why: string, options?: { fix: string }): RequestError =>
  new RequestError("invalid_request", `The login cannot start: ${why}.`, options);
