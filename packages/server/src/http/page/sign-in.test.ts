import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { memoryTokens } from "../../testing/memory-tokens.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import { SignIn } from "./sign-in.ts";

let folder: string;
let server: Awaited<ReturnType<typeof startTestServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-page-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), '<meta name="csp-nonce" content="__NONCE__"><p>the page</p>');
  await writeFile(join(folder, "assets", "app-1.js"), "console.log('hello')".repeat(50));
  await writeFile(join(folder, ".stamp"), "secret");
  server = await startTestServer({ engine: new MemoryEngine().engine, page: folder });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
const newCode = async (): Promise<string> => new URL(await server.signInLink()).hash.slice("#code=".length);

async function signedIn(code?: string): Promise<string> {
  const response = await post("/v1/sign_in", { code: code ?? (await newCode()) });
  expect(response.status).toBe(200);
  return response.headers.get("set-cookie")!.split(";", 1)[0]!;
}

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
  test("a code is valid once, and its cookie is for the page alone", async () => {
    const code = await newCode();
    const first = await post("/v1/sign_in", { code });
    const cookie = first.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await post("/v1/sign_in", { code })).status).toBe(401);
    expect((await get("/openapi.json", { cookie: cookie.split(";", 1)[0]! })).status).toBe(200);
  });

  test("a code expires after a minute, and a late attempt does not revive it", async () => {
    const signIn = new SignIn(memoryTokens(), false);
    const made = Date.now();
    const inTime = await signIn.createCode({}, made);
    const late = await signIn.createCode({}, made);
    await expect(signIn.exchange(inTime.code, made + 59_999)).resolves.toMatchObject({ token: { name: "page" } });
    await expect(signIn.exchange(late.code, made + 60_000)).rejects.toThrow("not valid any more");
    await expect(signIn.exchange(late.code, made)).rejects.toThrow("not valid any more");
  });

  test("a cookie alone changes nothing: the request must come from the page", async () => {
    const cookie = await signedIn();
    const body = {};
    const path = "/v1/sign_in/codes";
    expect((await post(path, body, { cookie })).status).toBe(401);
    expect((await post(path, body, { cookie, "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post(path, body, { cookie, "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await post(path, body, { cookie, origin: "http://127.0.0.1:1" })).status).toBe(403);
    expect((await post(path, body, { cookie, "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await post(path, body, { cookie, origin: server.url })).status).toBe(200);
  });

  test("a link can be for a named person, who acts under that name until signing out", async () => {
    const admin = { cookie: await signedIn(), "sec-fetch-site": "same-origin" };
    const { code } = (await (await post("/v1/sign_in/codes", { name: " Ana " }, admin)).json()) as { code: string };
    const ana = { cookie: await signedIn(code), "sec-fetch-site": "same-origin" };
    const names = async (headers: Record<string, string>): Promise<string[]> => {
      const { data } = (await (await get("/v1/tokens", headers)).json()) as {
        data: { name: string; is_own: boolean }[];
      };
      return data.filter(({ is_own }) => is_own).map(({ name }) => name);
    };
    expect(await names(ana)).toEqual(["Ana"]);
    expect(await names(admin)).toEqual(["page"]);
    await post("/v1/sign_out", {}, ana);
    expect((await get("/v1/tokens", ana)).status).toBe(401);
    for (const name of ["", "n".repeat(101), 1]) {
      expect((await post("/v1/sign_in/codes", { name }, admin)).status).toBe(400);
    }
  });

  test("signing out with a program's token keeps that token", async () => {
    const bearer = { authorization: `Bearer ${server.secret}` };
    expect((await post("/v1/sign_out", {}, bearer)).status).toBe(200);
    expect((await get("/openapi.json", bearer)).status).toBe(200);
  });

  test("other values do not sign in", async () => {
    expect((await post("/v1/sign_in", { code: "guess" })).status).toBe(401);
    expect((await post("/v1/sign_in", {})).status).toBe(400);
    expect((await post("/v1/sign_in/codes", {})).status).toBe(401);
    expect((await get("/?code=x#code=x")).headers.get("set-cookie")).toBeNull();
  });

  test("signing out ends access", async () => {
    const cookie = await signedIn();
    const own = { cookie, "sec-fetch-site": "same-origin" };
    const left = await post("/v1/sign_out", {}, own);
    expect(left.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await get("/openapi.json", { cookie })).status).toBe(401);
  });
});
