import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { newId } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenRow, type TokenStore } from "@tandem/storage";
import { defaultSettings, type ServerSettings } from "../http/settings.ts";
import { sha256 } from "../http/access/sha256.ts";
import { createServer, type ServerOptions } from "../app/start-server.ts";
import { memoryPipe } from "./memory-pipe.ts";
import type { Wire } from "./wire.ts";

const CLOSE_MS = 2_000;

/**
 * The whole HTTP API inside this process, over an in-memory connection. It has no port, and its only token is created
 * for this connection and never stored. A host gets the same checks, responses and errors as any other client.
 */
export function openPrivateWire({
  actor,
  ...parts
}: ServerOptions & {
  /** The host's name in the audit log. */
  actor: string;
}): Wire & AsyncDisposable {
  const secret = randomBytes(32).toString("base64url");
  const token: TokenRow = {
    id: newId("token"),
    name: actor,
    tenant: DEFAULT_TENANT,
    sha256: sha256(secret),
    scopes: ["admin"],
    createdAt: new Date().toISOString(),
    lastUsedAt: null,
  };
  const settings: ServerSettings = { ...defaultSettings, ...parts.settings };
  const store = { ...parts.store, tokens: withOneKey(parts.store.tokens, token) };
  const { server, drain, close } = createServer({ ...parts, store }, settings);
  return {
    async send({ method, path, headers, body, signal }): Promise<IncomingMessage> {
      const [near, far] = memoryPipe();
      server.emit("connection", far);
      const outgoing = httpRequest({
        method,
        path,
        signal,
        createConnection: () => near,
        headers: {
          ...headers,
          host: "127.0.0.1",
          authorization: `Bearer ${secret}`,
          ...(body && { "content-length": body.length }),
        },
      });
      outgoing.end(body);
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      // Later errors surface on the response.
      outgoing.on("error", () => undefined);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      drain();
      await close(CLOSE_MS);
    },
  };
}

/** Stored tokens are for servers: here they can be listed and revoked, but do not grant access. */
const withOneKey = (tokens: TokenStore, key: TokenRow): TokenStore => ({
  create: (row) => tokens.create(row),
  list: (tenant) => tokens.list(tenant),
  delete: (id) => tokens.delete(id),
  findByHash: async (hash) => (hash === key.sha256 ? key : undefined),
  touch: async () => undefined,
});
