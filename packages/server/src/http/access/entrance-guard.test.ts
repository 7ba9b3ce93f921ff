import { afterAll, describe, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { rawRequest } from "../../testing/raw-request.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { EntranceGuard } from "./entrance-guard.ts";
import { defaultSettings } from "../settings.ts";

const server = await startTestServer({ engine: new MemoryEngine().engine });
afterAll(() => server[Symbol.asyncDispose]());

const status = async (headers: Record<string, string>, path = "/v1/agents", method = "GET"): Promise<number> =>
  (await rawRequest(server, { path, method, headers: { "x-api-key": server.secret, ...headers } })).status;

describe("host names", () => {
  test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.1:80", "[::1]", "localhost:1"])(
    "%s is allowed",
    async (host) => {
      expect(await status({ host })).toBe(200);
    },
  );

  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "evil.example:4760",
    "0.0.0.0",
    "192.168.1.1",
    "sub.localhost",
  ])("%s is refused even with a token: it could be DNS rebinding", async (host) => {
    expect(await status({ host })).toBe(403);
    expect(await status({ host }, "/healthz")).toBe(403);
  });

  test.each(["user@localhost", "localhost/x", "local host"])("an invalid host name (%s) is refused", async (host) => {
    expect([400, 403]).toContain(await status({ host }));
  });

  test.each(["[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "127.1", "localhost:", "localhost:99999"])(
    "an unusual form (%s) is refused with a message",
    async (host) => {
      const answer = await rawRequest(server, { path: "/v1/agents", headers: { host, "x-api-key": server.secret } });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    },
  );

  test("host names in the settings are allowed, a wildcard address is not a name", () => {
    const guard = new EntranceGuard({
      ...defaultSettings,
      host: "0.0.0.0",
      allowedHosts: ["Agents.example", "fd00::1"],
    });
    expect(() => guard.check({ host: "agents.example:4760" })).not.toThrow();
    expect(() => guard.check({ host: "[fd00::1]:4760" })).not.toThrow();
    expect(() => guard.check({ host: "0.0.0.0:4760" })).toThrow("does not go by this name");
    expect(() => guard.check({ host: "other.example" })).toThrow("does not go by this name");
  });

  test("an absolute URL in the request line does not bypass the check", async () => {
    expect(await status({ host: "localhost" }, "http://evil.example/v1/agents")).toBe(400);
  });
});

describe("web pages", () => {
  test("of this server are allowed", async () => {
    const host = `localhost:${server.port}`;
    expect(await status({ host, origin: `http://${host}`, "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await status({ host, "sec-fetch-site": "none" })).toBe(200);
  });

  test.each(["localhost", "127.0.0.1", "[::1]"])(
    "of this server are allowed under each name of this machine: %s",
    async (name) => {
      for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
        const origin = `http://${name}:${server.port}`;
        expect(await status({ host: `${host}:${server.port}`, origin })).toBe(200);
        expect(await status({ host: `${host}:1`, origin }), "another port").toBe(403);
      }
    },
  );

  test.each([
    ["of a stranger", { origin: "https://evil.example" }],
    ["of no origin", { origin: "null" }],
    ["of another port of localhost", { origin: "http://localhost:3000" }],
    ["of another loopback address", { origin: "http://127.0.0.2:PORT" }],
    ["of another port of another name of this machine", { origin: "http://127.0.0.1:3000" }],
    ["of a name that ends in localhost", { origin: "http://evil.localhost:PORT" }],
    ["of a name that begins with an own one", { origin: "http://127.0.0.1.evil.example:PORT" }],
    ["of the same port across sites", { origin: "http://127.0.0.1:PORT", "sec-fetch-site": "cross-site" }],
    ["of the same name in another scheme", { origin: "https://localhost:PORT" }],
    ["with an origin that is none", { origin: "http://" }],
    ["across sites, without an origin", { "sec-fetch-site": "cross-site" }],
    ["across ports, without an origin", { "sec-fetch-site": "same-site" }],
    ["that lie about one of the two", { origin: "http://localhost:PORT", "sec-fetch-site": "cross-site" }],
  ])("%s are refused", async (_name, headers) => {
    const host = `localhost:${server.port}`;
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", String(server.port))]),
    );
    for (const [method, path] of [
      ["GET", "/v1/agents"],
      ["POST", "/v1/sessions"],
      ["GET", "/v1/feed"],
      ["OPTIONS", "/v1/agents"],
    ] as const) {
      expect(await status({ host, ...own }, path, method)).toBe(403);
    }
  });

  test("never get CORS headers by default", async () => {
    const answers = await Promise.all(
      ["http://evil.example", `http://localhost:${server.port}`].map((origin) =>
        rawRequest(server, {
          path: "/v1/agents",
          headers: { host: `localhost:${server.port}`, "x-api-key": server.secret, origin },
        }),
      ),
    );
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("in the settings are allowed, and only they get CORS headers", async () => {
    const settings = { allowedOrigins: ["https://app.example"] };
    await using open = await startTestServer({ engine: new MemoryEngine().engine, settings });
    const ask = (method: string, headers: Record<string, string>) =>
      rawRequest(open, { path: "/v1/agents", method, headers: { "sec-fetch-site": "cross-site", ...headers } });
    const preflight = await ask("OPTIONS", {
      origin: "https://app.example",
      "access-control-request-headers": "authorization, x-stainless-retry-count",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-headers": "authorization, x-stainless-retry-count",
      vary: "origin",
    });
    const allowed = await ask("GET", { origin: "https://app.example", "x-api-key": open.secret });
    expect(allowed.status).toBe(200);
    expect(allowed.headers["access-control-allow-origin"]).toBe("https://app.example");
    expect((await ask("GET", { origin: "https://app.example" })).status).toBe(401);
    const foreign = await ask("GET", { origin: "https://app.example.evil.example", "x-api-key": open.secret });
    expect(foreign.status).toBe(403);
    expect(foreign.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("behind a proxy that terminates TLS, the server's own page has https", () => {
    const guard = new EntranceGuard({ ...defaultSettings, trustedProxy: true, allowedHosts: ["agents.example"] });
    expect(() => guard.check({ host: "agents.example", origin: "https://agents.example" })).not.toThrow();
    expect(() => guard.check({ host: "agents.example", origin: "https://evil.example" })).toThrow("other origins");
  });
});
