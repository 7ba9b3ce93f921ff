import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPageKey } from "@tandem/client";
import { MovableClock } from "@tandem/sessions";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { afterAll, describe, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { memoryTokens } from "../../testing/memory-tokens.ts";
import { signInBrowser, type PageBrowser } from "../../testing/page-browser.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { createToken } from "../access/create-token.ts";
import { SignIn } from "./sign-in.ts";

const DAY = 24 * 60 * 60 * 1_000;

const folder = await scratchFolder();
await mkdir(join(folder, "assets"));
await writeFile(join(folder, "index.html"), '<meta name="csp-nonce" content="__NONCE__"></head><p>the page</p>');
await writeFile(join(folder, "assets", "app-1.js"), "console.log('hello')".repeat(50));
await writeFile(join(folder, ".stamp"), "secret");
const clock = new MovableClock();
const server = await startTestServer({ engine: new MemoryEngine().engine, page: folder, clock });
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
const newCode = async (): Promise<string> => new URL(await server.signInLink()).hash.slice("#code=".length);

const signedIn = async (code?: string): Promise<PageBrowser> => signInBrowser(server.url, code ?? (await newCode()));
const key = async (): Promise<string> => (await createPageKey()).publicKey;

describe("the page's files", () => {
  test("are public, at every path of the page", async () => {
    for (const path of ["/", "/sessions/sesn_1", "/settings/rules"]) {
      const response = await get(path);
      expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining("the page")]);
    }
    const script = await get("/assets/app-1.js");
    expect(script.headers.get("content-type")).toContain("javascript");
    expect(script.headers.get("cache-control")).toContain("immutable");
  });

  test("may only run and reach their own origin", async () => {
    const response = await get("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
    expect(await response.text()).toContain(`content="${nonce}"`);
    expect((await get("/")).headers.get("content-security-policy")).not.toBe(policy);
  });

  test.each(["/.stamp", "/assets/../../etc/passwd.html", "/assets/%2e%2e/x.js", "/nothing.js", "/assets/"])(
    "%s is no file of the page",
    async (path) => {
      const response = await get(path);
      expect(await response.text()).not.toContain("secret");
      expect([200, 400, 401, 404]).toContain(response.status);
      if (response.status === 200) expect(response.headers.get("content-type")).toContain("text/html");
    },
  );

  test("hide no path of the API", async () => {
    expect((await get("/v1/sessions")).status).toBe(401);
    expect((await get("/openapi.json")).status).toBe(401);
    expect((await get("/v1")).status).toBe(401);
  });
});

describe("signing in", () => {
  test("sets no cookie, and the page reaches the API by signing", async () => {
    const response = await post("/v1/sign_in", { code: await newCode(), key: await key() });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([200, null]);
    const browser = await signedIn();
    expect((await browser.fetch("/openapi.json")).status).toBe(200);
    expect((await browser.fetch("/v1/sign_in/codes", { json: {} })).status).toBe(200);
  });

  test("a code is valid once, and a used link says so", async () => {
    const code = await newCode();
    await signedIn(code);
    const again = await post("/v1/sign_in", { code, key: await key() });
    expect([again.status, await again.text()]).toEqual([401, expect.stringContaining("was already used")]);
  });

  test("a code expires after ten minutes, and a late attempt does not revive it", async () => {
    let now = 0;
    const signIn = new SignIn(memoryTokens(), { clock: { now: () => now } });
    const [inTime, late] = [await signIn.createCode(), await signIn.createCode()];
    now = 599_999;
    await expect(signIn.exchange({ ...inTime, key: await key() })).resolves.toMatchObject({ name: "page" });
    now = 600_000;
    await expect(signIn.exchange({ ...late, key: await key() })).rejects.toThrow("older than 10 minutes");
    now = 0;
    await expect(signIn.exchange({ ...late, key: await key() })).rejects.toThrow("was already used");
  });

  test("a request without a valid key does not use up the code", async () => {
    const code = await newCode();
    expect((await post("/v1/sign_in", { code })).status).toBe(400);
    for (const wrong of ["", "x", "A".repeat(87), `B${"A".repeat(86)}`, server.secret]) {
      expect([wrong, (await post("/v1/sign_in", { code, key: wrong })).status]).toEqual([wrong, 400]);
    }
    await signedIn(code);
  });

  test("a link can be for a named person, who acts under that name until signing out", async () => {
    const admin = await signedIn();
    const made = await admin.fetch("/v1/sign_in/codes", { json: { name: " Ana " } });
    const ana = await signedIn(((await made.json()) as { code: string }).code);
    const names = async (browser: PageBrowser): Promise<string[]> => {
      const { data } = (await (await browser.fetch("/v1/tokens")).json()) as {
        data: { name: string; is_own: boolean }[];
      };
      return data.filter(({ is_own }) => is_own).map(({ name }) => name);
    };
    expect(await names(ana)).toEqual(["Ana"]);
    expect(await names(admin)).toEqual(["page"]);
    expect((await ana.fetch("/v1/sign_out", { method: "POST" })).status).toBe(200);
    expect((await ana.fetch("/v1/tokens")).status).toBe(401);
    expect(await names(admin)).toEqual(["page"]);
    for (const name of ["", "n".repeat(101), 1]) {
      expect((await admin.fetch("/v1/sign_in/codes", { json: { name } })).status).toBe(400);
    }
  });

  test("signing out with a program's token keeps that token", async () => {
    const bearer = { authorization: `Bearer ${server.secret}` };
    expect((await post("/v1/sign_out", {}, bearer)).status).toBe(200);
    expect((await get("/openapi.json", bearer)).status).toBe(200);
  });

  test("other values do not sign in", async () => {
    const guess = await post("/v1/sign_in", { code: "guess", key: await key() });
    expect([guess.status, await guess.text()]).toEqual([
      401,
      expect.stringContaining("already used or is older than 10 minutes"),
    ]);
    expect((await post("/v1/sign_in", {})).status).toBe(400);
    expect((await post("/v1/sign_in/codes", {})).status).toBe(401);
    expect((await get("/?code=x#code=x")).headers.get("set-cookie")).toBeNull();
  });

  test("a browser has to sign in again after 30 days", async () => {
    const browser = await signedIn();
    const row = (await server.tokens.list()).at(-1)!;
    clock.advance(29 * DAY);
    expect((await browser.fetch("/openapi.json")).status).toBe(200);
    clock.advance(2 * DAY);
    expect((await browser.fetch("/openapi.json")).status).toBe(401);
    expect((await server.tokens.list()).map(({ id }) => id)).not.toContain(row.id);
  });
});

describe("a cookie of version 0.1.0", () => {
  const oldCookie = async (name: string, prefix = ""): Promise<{ id: string; secret: string }> => {
    const { secret, token } = await createToken(server.tokens, { name, scopes: ["admin"] });
    await server.tokens.create({ ...token, sha256: `${prefix}${token.sha256}` });
    return { id: token.id, secret };
  };

  test.each([
    ["as the migration leaves it", "page", "cookie:"],
    ["of a named person", "Ana", ""],
  ])("(%s) opens nothing, and is revoked and removed when the page loads", async (_, name, prefix) => {
    const { id, secret } = await oldCookie(name, prefix);
    const cookie = `other=1; tandem_page=${secret}; last=2`;
    expect((await get("/v1/agents", { cookie, origin: server.url, "sec-fetch-site": "same-origin" })).status).toBe(401);
    expect((await get("/assets/app-1.js", { cookie })).headers.get("set-cookie")).toBeNull();
    const page = await get("/", { cookie });
    expect(page.headers.get("set-cookie")).toMatch(/^tandem_page=; .*Max-Age=0/);
    expect(await page.text()).toContain("tandem-signed-out");
    expect((await server.tokens.list()).map((row) => row.id)).not.toContain(id);
    expect((await get("/v1/agents", { authorization: `Bearer ${secret}` })).status).toBe(401);
    expect(await (await get("/", { cookie })).text()).not.toContain("tandem-signed-out");
  });

  test("of a server on another port is left alone", async () => {
    const page = await get("/", { cookie: `tandem_page=tandem_${"A".repeat(43)}` });
    expect([page.headers.get("set-cookie"), (await page.text()).includes("signed-out")]).toEqual([null, false]);
  });
});
