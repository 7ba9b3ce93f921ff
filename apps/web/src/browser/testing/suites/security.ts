import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, expect, test } from "vitest";
import { ELSEWHERE } from "../hostile.ts";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

const home = (page: Page) => page.getByRole("heading", { name: "Sessions", level: 1 });

/** See `connections.binary.test.ts`. */
export function testSecurity(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("a sign-in link works once, nothing else in the URL signs in, and signing out applies to every window", async () => {
    const page = await stage.openSignedOut();
    const isSignedOut = (window: Page) => window.getByText("This browser is not signed in.").waitFor();
    const { code } = await stage.api<{ code: string }>("/v1/sign_in/codes", {});
    for (const query of [
      `code=${code}`,
      `token=x&server=${ELSEWHERE}`,
      `url=${ELSEWHERE}&baseUrl=${ELSEWHERE}&api=${ELSEWHERE}`,
    ]) {
      await page.goto(`${stage.url}/?${query}`);
      await isSignedOut(page);
    }

    // The code leaves the URL, there is no cookie, and scripts cannot read the key.
    const link = await stage.link();
    await page.goto(link);
    await home(page).waitFor();
    expect(page.url()).toBe(`${stage.url}/`);
    expect(await page.evaluate("document.cookie + JSON.stringify({ ...localStorage })")).not.toMatch(/token|code/i);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate(READ_KEY)).toBe("false InvalidAccessError");
    await page.reload();
    await home(page).waitFor();

    const beside = await page.context().newPage();
    await beside.goto(stage.url);
    await home(beside).waitFor();
    await page.goto(`${stage.url}/settings/appearance`);
    await page.getByRole("button", { name: /^Sign out/ }).click();
    await isSignedOut(page);
    await isSignedOut(beside);
    await beside.reload();
    await isSignedOut(beside);

    await page.goto(link);
    await page.getByText("This link was already used.").waitFor();
    // A signed-in browser keeps its sign-in.
    await page.goto(await stage.link());
    await home(page).waitFor();
    await page.goto(link);
    await page.getByText("This browser is still signed in.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await home(page).waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("a cookie of version 0.1.0 is revoked, and the page says why it is signed out, once", async () => {
    const { id, secret } = await stage.api<{ id: string; secret: string }>("/v1/tokens", {
      name: "Ana",
      scopes: ["admin"],
    });
    const page = await stage.openSignedOut();
    await page.context().addCookies([{ name: "tandem_page", value: secret, url: stage.url, httpOnly: true }]);
    await page.goto(stage.url);
    await page.getByText("An earlier version of Tandem kept your sign-in in a cookie").waitFor();
    expect(await page.context().cookies()).toEqual([]);
    const { data } = await stage.api<{ data: { id: string }[] }>("/v1/tokens");
    expect(data.map((token) => token.id)).not.toContain(id);
    await page.reload();
    await page.getByText("This browser is not signed in.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("a revoked browser shows that it is revoked, and a page without HTTPS says what to do", async () => {
    const page = await stage.openOwn();
    const { data } = await stage.api<{ data: { id: string; name: string }[] }>("/v1/tokens");
    const newest = data.find(({ name }) => name === "page")!;
    await stage.api(`/v1/tokens/${newest.id}`, undefined, "DELETE");
    await page.reload();
    await page.getByText("Its access was revoked or has expired.").waitFor();

    // Over plain HTTP, browsers offer no cryptography except on this machine.
    const insecure = await stage.openSignedOut();
    await insecure.addInitScript("Object.defineProperty(globalThis, 'isSecureContext', { value: false })");
    await insecure.goto(await stage.link());
    await insecure.getByText("This page needs HTTPS.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("another origin can neither read nor write, although the browser is signed in", async () => {
    const page = await stage.open();
    const before = await stage.api<{ data: unknown[] }>("/v1/agents");
    // Another port of the same host: browsers send cookies to every port.
    await using foreign = await serve("<title>Elsewhere</title><iframe></iframe>");
    await page.goto(foreign.url);
    expect(foreign.cookies).toEqual([]);
    expect(await page.evaluate("indexedDB.databases()")).toEqual([]);
    const body = JSON.stringify({ name: "intruder", model: "sonnet" });
    const got = await page.evaluate(
      async ({ url, text }) => {
        const attempt = (init: RequestInit, path = "/v1/agents"): Promise<string> =>
          fetch(`${url}${path}`, { credentials: "include", ...init }).then(
            async (response) => `${response.type} ${response.status} ${(await response.text()).length}`,
            () => "refused",
          );
        const json = { "content-type": "application/json" };
        return [
          await attempt({}),
          await attempt({ method: "POST", body: text, headers: json }),
          await attempt({ method: "POST", body: text, headers: { "content-type": "text/plain" }, mode: "no-cors" }),
          await attempt({ method: "POST", body: text, mode: "no-cors" }, "/v1/sign_out"),
          await new Promise<string>((resolve) => {
            const stream = new EventSource(`${url}/v1/feed`, { withCredentials: true });
            stream.addEventListener("open", () => resolve("open"));
            stream.addEventListener("error", () => resolve("refused"));
          }),
        ];
      },
      { url: stage.url, text: body },
    );
    expect(got).toEqual(got.map(() => "refused"));

    // A form can be submitted without script (CSRF).
    await page.setContent(
      `<form method="post" enctype="text/plain" action="${stage.url}/v1/agents"><input name='{"name":"intruder","model":"sonnet","x":"' value='"}'><button>Go</button></form>`,
    );
    await Promise.all([page.waitForURL(`${stage.url}/**`), page.getByRole("button").click()]);
    expect(await page.locator("body").innerText()).toMatch(/not let in|application\/json/);

    // The page cannot be framed.
    await page.goto(foreign.url);
    const framed = page.waitForResponse(`${stage.url}/`);
    await page.setContent(`<iframe src="${stage.url}/"></iframe>`);
    expect((await framed).status()).toBe(403);
    expect(await stage.api("/v1/agents")).toEqual(before);
    // The browser reports the refused frame after its answer, unless its page is left.
    await page.goto("about:blank");
    stage.pageErrors();
    await page.goto(stage.url);
    await home(page).waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("every path has the CSP with a fresh nonce and no bypass", async () => {
    const policies = new Set<string>();
    const paths = [
      "/",
      "/inbox",
      "/sessions/sesn_x",
      "/compare?a=1",
      "/cassettes",
      "/context/wiki/a.b",
      "/settings/rules",
      "/settings/schedules",
      "/nowhere",
    ];
    for (const path of paths) {
      const response = await fetch(`${stage.url}${path}`);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect([path, policy]).toEqual([
        path,
        expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/),
      ]);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      for (const part of ["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(part);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      policies.add(policy);
    }
    expect(policies.size).toBe(paths.length);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("agent output is text: it runs, loads and opens nothing by itself", async () => {
    const session = await stage.start("Be hostile");
    const page = await stage.open(`/sessions/${session}`);
    const card = page.getByRole("article", { name: /^Bash: printf/ });
    await card.getByRole("button", { name: "Allow once" }).waitFor();
    const talk = page.getByRole("log");
    await talk
      .getByRole("button", { name: /^Thought/ })
      .first()
      .click();

    const look = async (): Promise<void> => {
      // Agent output creates no active elements, and only web links.
      for (const tag of ["script", "iframe", "style", "base", "form", "object", "embed", "meta"])
        expect([tag, await page.locator(`[role=log] ${tag}, article ${tag}`).count()]).toEqual([tag, 0]);
      expect(await page.locator("[role=log] img, article img").count()).toBe(0);
      const links = await page
        .locator("[role=log] a[href]")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href")!));
      expect(links.filter((href) => !/^(https:\/\/example\.com\/|\/sessions\/)/.test(href))).toEqual([]);
      const web = page.locator('[role=log] a[href="https://example.com/"]').first();
      expect(await web.getAttribute("rel")).toBe("noreferrer noopener");
      expect(await page.evaluate("window.__acted")).toBeUndefined();
    };
    await look();
    // Bidirectional control characters in a command are shown as escapes.
    await card.getByText("U+202E").first().waitFor();
    await card.getByRole("button", { name: "Allow once" }).click();
    await talk.getByText("That was all.").waitFor();
    await talk.getByText("<img src=x onerror").last().waitFor();
    expect(await talk.locator("pre, code").allInnerTexts()).not.toContain(expect.stringContaining("\u001B"));
    await look();
    for (const place of [
      `/sessions/${session}?view=history`,
      `/sessions/${session}?view=changes`,
      "/inbox?view=decided",
      "/",
    ]) {
      await page.goto(`${stage.url}${place}`);
      await page.getByRole("heading").first().waitFor();
      expect(await page.evaluate("window.__acted")).toBeUndefined();
    }
    expect(stage.pageErrors()).toEqual([]);
  });
}

/** Prints whether the page's private key can be exported, and the error of trying. */
const READ_KEY = `new Promise((resolve) => {
  const opening = indexedDB.open("tandem");
  opening.onsuccess = () => {
    opening.result.transaction("keys").objectStore("keys").get("page").onsuccess = ({ target }) => {
      opening.result.close();
      const { privateKey } = target.result;
      crypto.subtle.exportKey("jwk", privateKey).catch(({ name }) => resolve(privateKey.extractable + " " + name));
    };
  };
})`;

async function serve(html: string): Promise<AsyncDisposable & { url: string; cookies: string[] }> {
  const cookies: string[] = [];
  const server = createServer(({ headers }, response) => {
    if (headers.cookie !== undefined) cookies.push(headers.cookie);
    response.setHeader("content-type", "text/html").end(html);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    cookies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
