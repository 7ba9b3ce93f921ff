import type { CapturedResponse, CredentialValidation } from "@tandem/protocol";
import { externalDeadline } from "../../host/external-deadline.ts";
import type { ReadCredential, VaultReader } from "../vault-reader.ts";
import { captureResponse } from "./captured-response.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { isOAuth, type RefreshedToken, type TokenRefresher } from "./token-refresher.ts";

const TIMEOUT_MS = 15_000;
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "tandem", version: "1.0.0" } },
};

type Probe = { type: "accepted" } | { type: "refused"; response: CapturedResponse } | { type: "unreachable" };

/** Tests the access token at its MCP server. After a 401 it refreshes the token and tests the new one. */
export async function validateCredential(
  credential: ReadCredential,
  around: { reader: VaultReader; refresher: Pick<TokenRefresher, "token">; send: GuardedFetch },
): Promise<Pick<CredentialValidation, "status" | "mcp_probe" | "refresh">> {
  const { auth } = credential;
  if (auth.type === "environment_variable") return { status: "unknown", mcp_probe: null, refresh: null };
  const token = await around.reader.open(auth.type === "static_bearer" ? auth.token : auth.access_token);
  let probe = await probeServer(auth.mcp_server_url, token, around.send);
  let refresh: CredentialValidation["refresh"] = null;
  let isEndpointRefusal = false;
  if (isOAuth(credential) && probe.type === "refused" && probe.response.status_code === 401) {
    const result = await around.refresher.token(credential, { refused: token, bypassPause: true });
    refresh = describeRefresh(result);
    isEndpointRefusal = isClientError(refresh.http_response);
    if (result.type === "token") probe = await probeServer(auth.mcp_server_url, result.token, around.send);
  }
  return {
    status: verdict(probe, refresh, isEndpointRefusal),
    mcp_probe:
      probe.type === "accepted"
        ? null
        : { method: INITIALIZE.method, http_response: probe.type === "refused" ? probe.response : null },
    refresh,
  };
}

async function probeServer(url: string, token: string, send: GuardedFetch): Promise<Probe> {
  try {
    const response = await send(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(INITIALIZE),
      signal: externalDeadline(TIMEOUT_MS),
    });
    if (!response.ok) return { type: "refused", response: await captureResponse(response, [token]) };
    const session = response.headers.get("mcp-session-id");
    await response.body?.cancel();
    if (session !== null) await endSession(url, token, session, send);
    return { type: "accepted" };
  } catch {
    return { type: "unreachable" };
  }
}

/** The server keeps a session until it is ended. */
async function endSession(url: string, token: string, session: string, send: GuardedFetch): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "mcp-session-id": session };
  const ended = await send(url, { method: "DELETE", headers, signal: externalDeadline(TIMEOUT_MS) }).catch(() => {});
  await ended?.body?.cancel();
}

function describeRefresh(result: RefreshedToken): NonNullable<CredentialValidation["refresh"]> {
  switch (result.type) {
    case "token":
      return { status: "succeeded", http_response: null };
    case "no_refresh_token":
    case "gone":
      return { status: "no_refresh_token", http_response: null };
    case "failed":
      return result.answer?.type === "unreachable"
        ? { status: "connect_error", http_response: null }
        : { status: "failed", http_response: result.answer?.response ?? null };
  }
}

function verdict(
  probe: Probe,
  refresh: CredentialValidation["refresh"],
  isEndpointRefusal: boolean,
): CredentialValidation["status"] {
  if (probe.type === "accepted") return "valid";
  if (probe.type === "unreachable") return "unknown";
  const { status_code: status } = probe.response;
  if (status === 403) return "invalid";
  if (status !== 401) return "unknown";
  if (refresh === null || refresh.status === "no_refresh_token" || refresh.status === "succeeded") return "invalid";
  return isEndpointRefusal ? "invalid" : "unknown";
}

const isClientError = (response: CapturedResponse | null): boolean =>
  response !== null && response.status_code >= 400 && response.status_code < 500 && response.status_code !== 429;
