import { createPageKey, createSignedFetch, type PageKey } from "@tandem/client";
import { PAGE_SIGNATURE_HEADER } from "@tandem/protocol";
import { expect } from "vitest";

/** A browser that has signed in at a server: sends JSON requests as its page does. */
export interface PageBrowser {
  key: PageKey;
  fetch(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
}

/** Exchanges the code of a sign-in link. */
export async function signInBrowser(url: string, code: string): Promise<PageBrowser> {
  const key = await createPageKey();
  const response = await fetch(`${url}/v1/sign_in`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, key: key.publicKey }),
  });
  expect([response.status, await response.json()]).toEqual([200, { type: "signed_in" }]);
  return pageBrowser(url, key);
}

export function pageBrowser(url: string, key: PageKey): PageBrowser {
  const send = createSignedFetch({ key: async () => key });
  return {
    key,
    fetch: (path, { json, ...init } = {}) =>
      send(`${url}${path}`, {
        ...init,
        ...(json !== undefined && {
          method: init.method ?? "POST",
          body: JSON.stringify(json),
          headers: { "content-type": "application/json", ...(init.headers as Record<string, string> | undefined) },
        }),
      }),
  };
}

/** The header with which the page would send this request, which is not sent. */
export async function signatureOf(key: PageKey, path: string, json?: string): Promise<string> {
  let header = "";
  const keep = async (_: string, { headers }: RequestInit): Promise<Response> => {
    header = new Headers(headers).get(PAGE_SIGNATURE_HEADER) ?? "";
    return new Response();
  };
  const init = json === undefined ? {} : { method: "POST", body: json };
  await createSignedFetch({ key: async () => key, fetch: keep })(path, init);
  return header;
}
