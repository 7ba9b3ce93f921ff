import type { IncomingMessage } from "node:http";
import { createPageKey, createSignedFetch } from "@tandem/client";
import { PAGE_SIGNATURE_HEADER, PAGE_TIME_HEADER } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { WireError } from "../wire-error.ts";
import { isPageKey, pageKeyHash, PageSignatures } from "./page-signatures.ts";

interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
}

const key = await createPageKey();

/** The request of the page. */
async function sent(path: string, init: RequestInit = {}, own = key): Promise<Sent> {
  let request: Sent | undefined;
  const send = createSignedFetch({
    key: async () => own,
    fetch: async (url, { method = "GET", headers, body }) => {
      const length: Record<string, string> =
        typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {};
      request = { method, url, headers: { ...Object.fromEntries(new Headers(headers)), ...length } };
      return new Response();
    },
  });
  await send(path, init);
  return request!;
}

const check = (signatures: PageSignatures, request: Sent, now?: number): boolean => {
  const given = signatures.read(request);
  return given !== undefined && signatures.verify(request as unknown as IncomingMessage, given, now);
};

const json = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };

describe("a signature", () => {
  test("is valid for the request that the page signed", async () => {
    const signatures = new PageSignatures();
    for (const [path, init] of [
      ["/v1/agents?limit=2&name[]=a%20b", {}],
      ["/v1/agents", json],
      ["/v1/agents/x", { method: "DELETE" }],
    ] as const) {
      expect(check(signatures, await sent(path, init))).toBe(true);
    }
    const request = await sent("/v1/agents");
    const hash = pageKeyHash(key.publicKey);
    expect(signatures.read(request)?.hash).toBe(hash);
    expect([isPageKey({ sha256: hash! }), isPageKey({ sha256: hash!.slice(5) })]).toEqual([true, false]);
  });

  test("covers method, path, query, time, nonce, body and key", async () => {
    const signatures = new PageSignatures();
    const request = await sent("/v1/rules?a=1", json);
    const parts = request.headers[PAGE_SIGNATURE_HEADER]!.split(".");
    const other = (await sent("/v1/rules?a=1", json, await createPageKey())).headers[PAGE_SIGNATURE_HEADER]!.split(".");
    const changed = (index: number, value: string): Sent => {
      const header = parts.with(index, value).join(".");
      return { ...request, headers: { ...request.headers, [PAGE_SIGNATURE_HEADER]: header } };
    };
    const forged: Record<string, Sent> = {
      method: { ...request, method: "DELETE" },
      path: { ...request, url: "/v1/tokens?a=1" },
      query: { ...request, url: "/v1/rules?a=2" },
      "no query": { ...request, url: "/v1/rules" },
      key: changed(0, other[0]!),
      time: changed(1, String(Number(parts[1]) + 1)),
      nonce: changed(2, other[2]!),
      body: changed(3, "A".repeat(43)),
      "no body": changed(3, ""),
      form: changed(3, "form"),
      signature: changed(4, other[4]!),
      "an empty signature": changed(4, "A".repeat(86)),
    };
    const passed = Object.entries(forged).filter(([, one]) => check(signatures, one));
    expect(passed.map(([name]) => name)).toEqual([]);
    expect(check(signatures, request)).toBe(true);
  });

  test("needs exactly the kind of body that it names", async () => {
    const signatures = new PageSignatures();
    const without = await sent("/v1/stop", { method: "POST" });
    expect(check(signatures, { ...without, headers: { ...without.headers, "content-length": "2" } })).toBe(false);
    const withBody = await sent("/v1/stop", json);
    const { "content-length": _, ...headers } = withBody.headers;
    expect(check(signatures, { ...withBody, headers })).toBe(false);
    const form = await sent("/v1/files", { method: "POST", body: new FormData() });
    const as = (type: string): Sent => ({
      ...form,
      headers: { ...form.headers, "content-type": type, "content-length": "9" },
    });
    expect(check(signatures, as("application/json"))).toBe(false);
    expect(check(signatures, as("multipart/form-data; boundary=x"))).toBe(true);
  });

  test("is valid once", async () => {
    const signatures = new PageSignatures();
    const request = await sent("/v1/agents");
    const now = Date.now();
    expect(check(signatures, request, now)).toBe(true);
    expect(() => check(signatures, request, now)).toThrow("received before");
    expect(() => check(signatures, request, now + 299_000)).toThrow("received before");
    expect(check(signatures, await sent("/v1/agents"), now)).toBe(true);
  });

  test("is stale after five minutes and after a restart, and the answer has the server's time", async () => {
    const signatures = new PageSignatures();
    const request = await sent("/v1/agents");
    for (const now of [Date.now() + 301_000, Date.now() - 301_000]) {
      expect(() => check(signatures, request, now)).toThrow(
        expect.objectContaining({ status: 401, headers: { [PAGE_TIME_HEADER]: String(now) } }),
      );
    }
    expect(check(signatures, request)).toBe(true);
    await expect.poll(() => Date.now()).toBeGreaterThan(signatures.read(request)!.time);
    expect(() => check(new PageSignatures(), request)).toThrow("too old");
  });

  test("a malformed signature counts as none", async () => {
    const signatures = new PageSignatures();
    const request = await sent("/v1/agents");
    const value = request.headers[PAGE_SIGNATURE_HEADER]!;
    for (const wrong of ["", "x", `${value}.x`, value.slice(1), value.replace(".", ".."), `Bearer ${value}`]) {
      expect(signatures.read({ headers: { [PAGE_SIGNATURE_HEADER]: wrong } })).toBeUndefined();
    }
    expect(signatures.read({ headers: {} })).toBeUndefined();
  });
});

describe("the page", () => {
  test("adopts the server's clock and signs again, once", async () => {
    const times: number[] = [];
    const serverTime = Date.now() + 3_600_000;
    const send = createSignedFetch({
      key: async () => key,
      fetch: async (_, { headers }) => {
        times.push(Number(new Headers(headers).get(PAGE_SIGNATURE_HEADER)!.split(".")[1]));
        const isLate = Math.abs(times.at(-1)! - serverTime) > 60_000;
        return new Response(null, isLate ? { status: 401, headers: { [PAGE_TIME_HEADER]: String(serverTime) } } : {});
      },
    });
    expect((await send("/v1/agents", {})).status).toBe(200);
    expect((await send("/v1/agents", {})).status).toBe(200);
    expect(times).toHaveLength(3);
  });

  test("signs a read again that the browser has sent twice, but no write", async () => {
    const signatures = new PageSignatures();
    const sendTwice = createSignedFetch({
      key: async () => key,
      fetch: async (url, { method = "GET", headers }) => {
        const request = { method, url, headers: Object.fromEntries(new Headers(headers)) };
        const isFirst = calls++ === 0;
        check(signatures, request);
        try {
          if (isFirst) check(signatures, request);
          return new Response();
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
          return new Response(null, { status: error.status, headers: error.headers });
        }
      },
    });
    let calls = 0;
    expect((await sendTwice("/v1/budgets", {})).status).toBe(200);
    expect(calls).toBe(2);
    calls = 0;
    expect((await sendTwice("/v1/stop", { method: "POST" })).status).toBe(409);
    expect(calls).toBe(1);
  });

  test("does not retry another 401, and signs nothing without a key", async () => {
    let calls = 0;
    const refuse = async (): Promise<Response> => {
      calls += 1;
      return new Response(null, { status: 401 });
    };
    expect((await createSignedFetch({ key: async () => key, fetch: refuse })("/x", {})).status).toBe(401);
    expect((await createSignedFetch({ key: async () => undefined, fetch: refuse })("/x", {})).status).toBe(401);
    expect(calls).toBe(2);
  });

  test("cannot read its private key", async () => {
    await expect(crypto.subtle.exportKey("jwk", key.privateKey)).rejects.toThrow(/extractable/);
  });
});
