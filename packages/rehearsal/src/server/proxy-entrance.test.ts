import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProxyAccess } from "../index.ts";
import { madeUpLogin, stallBeforeFirstByte, startRehearsal, text } from "../index.ts";

const question = JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });

/** Calls like a program that trusts our CA and uses HTTPS_PROXY. */
async function call(
  proxy: ProxyAccess,
  url: string,
  init: { method?: string; body?: string; signal?: AbortSignal } = {},
) {
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY: proxy.variables.HTTPS_PROXY }, ca: await readFile(proxy.caFile) });
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const outgoing = request(
      url,
      { method: init.method ?? "GET", agent, timeout: 5000, signal: init.signal },
      (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode, body }));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(init.body);
  });
}

describe("the proxy", () => {
  test("simulates Anthropic's host by name, over TLS", async () => {
    await using rehearsal = await startRehearsal([text("through the tunnel")], { proxy: true });
    const answer = await call(rehearsal.proxy, "https://api.anthropic.com/v1/messages", {
      method: "POST",
      body: question,
    });
    expect(answer.body).toContain("through the tunnel");
    expect(rehearsal.modelRequests[0]).toMatchObject({ host: "api.anthropic.com", lastUserText: "hi" });
    rehearsal.assertDone();
  });

  test("rejects and logs every other host and port", async () => {
    const lines: string[] = [];
    await using rehearsal = await startRehearsal([], { proxy: ["extra.example"], log: (line) => lines.push(line) });
    await expect(call(rehearsal.proxy, "https://example.com/")).rejects.toThrow(/403/);
    await expect(call(rehearsal.proxy, "https://api.anthropic.com:8443/")).rejects.toThrow(/403/);
    expect((await call(rehearsal.proxy, "https://extra.example/")).status).toBe(200);
    expect(rehearsal.refused.map(({ host }) => host)).toEqual(["example.com:443", "api.anthropic.com:8443"]);
    expect(lines[0]).toMatch(/example\.com:443 refused/);
    expect(rehearsal.requests).toHaveLength(1);
  });

  test("keeps its CA file private, and removes it and all tunnels on close", async () => {
    const rehearsal = await startRehearsal([stallBeforeFirstByte()], { proxy: true });
    const { caFile } = rehearsal.proxy;
    expect((await stat(dirname(caFile))).mode & 0o777).toBe(0o700);
    expect(await readFile(caFile, "utf8")).not.toContain("PRIVATE");
    const stalled = call(rehearsal.proxy, "https://api.anthropic.com/v1/messages", {
      method: "POST",
      body: question,
    }).then(
      () => "answered",
      () => "cut",
    );
    await rehearsal.waitForRequest((request) => request.answeredBy !== undefined);
    await rehearsal.close();
    expect(await stalled).toBe("cut");
    await expect(stat(caFile)).rejects.toThrow(/ENOENT/);
  });

  test("notices when a caller inside a tunnel closes the connection", async () => {
    await using rehearsal = await startRehearsal([stallBeforeFirstByte()], { proxy: true });
    const abort = new AbortController();
    const url = "https://api.anthropic.com/v1/messages";
    const outcome = call(rehearsal.proxy, url, { method: "POST", body: question, signal: abort.signal }).then(
      () => "answered",
      () => "aborted",
    );
    await rehearsal.waitForRequest((request) => request.answeredBy !== undefined);
    abort.abort();
    expect(await outcome).toBe("aborted");
    await rehearsal.waitForRequest((request) => request.closedEarly);
    expect(rehearsal.requests).toHaveLength(1);
  });

  test("exists only on request", async () => {
    await using rehearsal = await startRehearsal([]);
    expect(() => rehearsal.proxy).toThrow(/proxy: true/);
  });
});

describe("a fake login", () => {
  const refresh = (refresh_token: string) => ({
    method: "POST",
    body: JSON.stringify({ grant_type: "refresh_token", refresh_token }),
  });

  test("is refreshed once per refresh token, or rejected as scripted", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    const url = "https://platform.claude.com/v1/oauth/token";
    const granted = await call(rehearsal.proxy, url, refresh("first"));
    expect(JSON.parse(granted.body)).toMatchObject({ token_type: "Bearer", expires_in: 28_800 });
    expect(await call(rehearsal.proxy, url, refresh("first"))).toMatchObject({ status: 400 });
    rehearsal.use([], { refresh: "invalid_grant" });
    expect((await call(rehearsal.proxy, url, refresh("second"))).body).toContain("invalid_grant");
    rehearsal.use([]);
    expect((await call(rehearsal.proxy, url, refresh("second"))).status).toBe(200);
  });

  test("never replaces a real one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "login-"));
    try {
      const { file } = await madeUpLogin(folder, { refreshToken: null, subscriptionType: "pro" });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ claudeAiOauth: { subscriptionType: "pro" } });
      await madeUpLogin(folder);
      await writeFile(file, JSON.stringify({ claudeAiOauth: { accessToken: "somebody's" } }));
      await expect(madeUpLogin(folder)).rejects.toThrow(/not made up/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
