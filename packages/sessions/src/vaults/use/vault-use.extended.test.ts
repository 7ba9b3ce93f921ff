import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { AgentCreateParams, LoggedEvent } from "@tandem/protocol";
import { OAuthMcpServer, text, toolUse } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { createAuthority, createLeaf } from "@tandem/sandbox/certificates";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  ALLOW_ALL,
  isIdle,
  setEngineStage,
  the,
  type EngineStage,
  type RunningEngine,
} from "../../testing/engine-stage.ts";
import { findInside, processesInside } from "../../testing/find-inside.ts";

const wall = knownWall(process.env);
/** Runs until it is killed. */
const COMMAND = "tail -f /dev/null";

let stage: EngineStage;
let server: OAuthMcpServer;
beforeEach(async () => {
  stage = await setEngineStage();
  server = await OAuthMcpServer.start();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const whoami = toolUse("mcp__work__whoami", {});
const agentOf = (url: string): Partial<AgentCreateParams> => ({
  mcp_servers: [{ type: "url", name: "work", url }],
  tools: [
    { type: "mcp_toolset", mcp_server_name: "work", default_config: { permission_policy: { type: "always_allow" } } },
  ],
});

async function addVault(
  { engine }: RunningEngine,
  auth: Parameters<typeof engine.vaults.credentials.create>[1]["auth"],
) {
  const { id: vault } = await engine.vaults.create({ display_name: "work" });
  return { vault, credential: (await engine.vaults.credentials.create(vault, { auth })).id };
}

const errorsOf = (events: readonly LoggedEvent[]): string[] =>
  events.flatMap(({ event }) => (event.type === "session.error" ? [event.error.type] : []));

/** Every file of the stage: database, state, transcripts, logs, the session's folder. */
async function readFiles(): Promise<string> {
  const entries = await readdir(stage.root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")))).join("\n");
}

test("a token of a vault is used, refreshed, rotated and tried again, and is in no file, event or process", async () => {
  const running = await stage.open();
  const secrets: string[] = [];
  const issue = () => {
    const tokens = server.issue();
    secrets.push(tokens.access_token, tokens.refresh_token);
    return tokens;
  };
  const first = issue();
  const { vault, credential } = await addVault(running, {
    type: "mcp_oauth",
    mcp_server_url: server.url.replace("http", "HTTP").replace("/mcp", "/mcp/"),
    access_token: first.access_token,
    refresh: {
      client_id: "tandem",
      refresh_token: first.refresh_token,
      token_endpoint: `${server.origin}/token`,
      token_endpoint_auth: { type: "none" },
    },
  });
  const session = await running.session({ vault_ids: [vault] }, agentOf(server.url));

  stage.rehearsal.use([whoami, text("done")]);
  const used = await running.turn(session, "Who am I?");
  expect(errorsOf(used)).toEqual([]);
  expect(JSON.stringify(the(used, "agent.mcp_tool_result").content)).toMatch(/You sent Bearer \*+, and are ann/);
  expect(new Set(server.seen)).toEqual(new Set([`Bearer ${first.access_token}`]));
  const processes = await stage.processes();

  // The server accepts the token no more: the call is sent again with a refreshed one.
  server.accessToken = "another";
  stage.rehearsal.use([whoami, text("done")]);
  expect(the(await running.turn(session, "Again."), "agent.mcp_tool_result").is_error).toBe(false);
  expect([server.refreshes, server.calls.length]).toEqual([1, 2]);
  secrets.push(server.accessToken);

  // A person replaces it: the running process uses the new one.
  const rotated = issue();
  await running.engine.vaults.credentials.update(vault, credential, {
    auth: { type: "mcp_oauth", access_token: rotated.access_token, refresh: { refresh_token: rotated.refresh_token } },
  });
  stage.rehearsal.use([whoami, text("done")]);
  expect(the(await running.turn(session, "Again."), "agent.mcp_tool_result").is_error).toBe(false);
  expect(server.seen.at(-1)).toBe(`Bearer ${rotated.access_token}`);
  expect(await stage.processes()).toEqual(processes);

  // Neither token nor refresh works.
  server.accessToken = "another";
  server.tokenFailure = { status: 400, body: "invalid_grant" };
  stage.rehearsal.use([whoami, text("done")]);
  const refused = await running.turn(session, "Again.");
  expect(the(refused, "agent.mcp_tool_result").is_error).toBe(true);
  expect(the(refused, "session.error").error).toMatchObject({
    type: "mcp_authentication_failed_error",
    mcp_server_name: "work",
  });

  // The next turn tries again, and fails again; after a new login, it works.
  stage.rehearsal.use([text("done")]);
  expect(errorsOf(await running.turn(session, "Again."))).toEqual(["mcp_authentication_failed_error"]);
  const last = issue();
  server.tokenFailure = undefined;
  await running.engine.vaults.credentials.update(vault, credential, {
    auth: { type: "mcp_oauth", access_token: last.access_token, refresh: { refresh_token: last.refresh_token } },
  });
  stage.rehearsal.use([whoami, text("done")]);
  const works = await running.turn(session, "Again.");
  expect(errorsOf(works)).toEqual([]);
  expect(the(works, "agent.mcp_tool_result").is_error).toBe(false);

  const environments = await Promise.all(
    (await stage.processes()).map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")),
  );
  const sent = stage.rehearsal.modelRequests.map(({ body }) => JSON.stringify(body));
  const events = JSON.stringify(await running.until(session, isIdle, 0));
  const audit = JSON.stringify(await running.engine.audit.list({ limit: 100 }));
  const all = [await readFiles(), ...environments, ...sent, events, audit].join("\n");
  expect(all).toContain("ann");
  for (const secret of secrets) expect(all).not.toContain(secret);
});

test.skipIf(!wall.on || wall.socat === undefined)(
  "a variable of a vault is a placeholder inside, and its value at the host (needs socat)",
  async () => {
    const value = `value-${"q".repeat(20)}`;
    await using host = await openHost();
    const running = await stage.open({
      sandbox: { mode: "require", hosts: [`api.example:${host.port}`], internet: host.internet },
    });
    const { vault, credential } = await addVault(running, {
      type: "environment_variable",
      secret_name: "EXAMPLE_KEY",
      secret_value: value,
      networking: { type: "limited", allowed_hosts: ["api.example", "elsewhere.example"] },
    });
    const url = `https://api.example:${host.port}/`;
    const curl = `curl -sS -H "X-Key: $EXAMPLE_KEY" --json '{"key":"'$EXAMPLE_KEY'"}' "${url}?key=$EXAMPLE_KEY"`;
    stage.rehearsal.use([bash(`echo $EXAMPLE_KEY; ${curl}`), bash(COMMAND), text("done")]);
    const session = await running.session({ vault_ids: [vault] }, ALLOW_ALL);
    await running.say(session, "Go.");
    const events = await running.until(session, ({ event }) => event.type === "agent.tool_result");
    const shown = JSON.stringify(the(events, "agent.tool_result"));
    expect(shown).toMatch(/tandem-placeholder-[\w-]{36}/);
    expect(host.requests).toMatchObject([{ headers: { "x-key": value }, body: JSON.stringify({ key: value }) }]);
    expect(host.requests[0]!.url).toMatch(/^\/\?key=tandem-placeholder-/);
    // The host returned it.
    expect(shown).toContain("*".repeat(value.length));
    expect(the(events, "session.error").error).toMatchObject({
      type: "credential_host_unreachable_error",
      vault_id: vault,
      credential_id: credential,
      message: expect.stringContaining("elsewhere.example"),
    });

    const [pid = 0] = await stage.processes();
    await expect.poll(async () => (await processesInside(pid)).some(({ command }) => command === COMMAND)).toBe(true);
    const found = await findInside(pid, value);
    expect(found.searchedBytes).toBeGreaterThan(10_000_000);
    expect(found.places).toEqual([]);
    const sent = stage.rehearsal.modelRequests.map(({ body }) => JSON.stringify(body));
    const all = [await readFiles(), ...sent, JSON.stringify(events)].join("\n");
    expect(all).not.toContain(value);
  },
);

test("without a sandbox, a session with a variable is refused, and one with a token is not", async () => {
  const running = await stage.open({ sandbox: { mode: "off" } });
  const { vault } = await addVault(running, {
    type: "environment_variable",
    secret_name: "EXAMPLE_KEY",
    secret_value: "a-secret-value",
    networking: { type: "unrestricted" },
  });
  await expect(running.session({ vault_ids: [vault] })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("sandbox.mode is off"),
  });
  const elsewhere = await running.engine.environments.create({ name: "own", config: { type: "self_hosted" } });
  await expect(running.session({ vault_ids: [vault], environment_id: elsewhere.id })).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("self-hosted"),
  });
  const token = await addVault(running, { type: "static_bearer", mcp_server_url: server.url, token: "some-token" });
  await running.session({ vault_ids: [token.vault] });
  await expect(
    running.engine.vaults.credentials.create(vault, {
      auth: {
        type: "environment_variable",
        secret_name: "LD_PRELOAD",
        secret_value: "a-secret-value",
        networking: { type: "unrestricted" },
      },
    }),
  ).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining("reserved") });
});

const bash = (command: string) => toolUse("Bash", { command });

/** `api.example` with TLS on loopback, which stands for the internet. It returns what it gets. */
async function openHost() {
  const authority = await createAuthority("Internet CA");
  const { keyPem, pem } = await createLeaf("api.example", authority);
  const requests: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readText(request);
    requests.push({ url: request.url ?? "", headers: request.headers, body });
    response.end(body);
  };
  const host = createServer({ key: keyPem, cert: pem }, (request, response) => void answer(request, response));
  host.listen(0, "127.0.0.1");
  await once(host, "listening");
  const { port } = host.address() as AddressInfo;
  return {
    port,
    requests,
    internet: { resolve: async () => ["127.0.0.1"], isPrivate: () => false, ca: [authority.pem] },
    async [Symbol.asyncDispose]() {
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    },
  };
}
