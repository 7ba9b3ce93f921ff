import { FORM_BODY, PAGE_SIGNATURE_HEADER, PAGE_TIME_HEADER, pageSignatureText } from "@tandem/protocol";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** `CryptoKey`, which is a type of the DOM only. */
type PrivateKey = Parameters<typeof crypto.subtle.sign>[1];

/** A browser's key. Scripts can use the private part but never read it. */
export interface PageKey {
  /** The raw point as base64url. */
  publicKey: string;
  privateKey: PrivateKey;
}

export async function createPageKey(): Promise<PageKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  return { publicKey: base64url(await crypto.subtle.exportKey("raw", publicKey)), privateKey };
}

/** A `fetch` for `createClient` that signs each request with the browser's key. Without a key it signs nothing. */
export function createSignedFetch({
  key,
  fetch: send = (url, init) => fetch(url, init),
}: {
  key: () => Promise<PageKey | undefined>;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}): (url: string, init: RequestInit) => Promise<Response> {
  /** The server's clock minus this one. */
  let offset = 0;
  const sendSigned = async (own: PageKey, url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set(PAGE_SIGNATURE_HEADER, await signature(own, url, init, Date.now() + offset));
    return send(url, { ...init, headers });
  };
  return async (url, init) => {
    const own = await key();
    if (!own) return send(url, init);
    const response = await sendSigned(own, url, init);
    const time = response.headers.get(PAGE_TIME_HEADER);
    const isRepeated = response.status === 409 && (init.method ?? "GET") === "GET";
    if (time === null || (response.status !== 401 && !isRepeated)) return response;
    // 401: The clocks differ, the request waited too long for a connection, or the server has restarted. It was refused
    // before anything was done, so it can be sent again. 409: the browser had sent it twice, and it only reads.
    if (!isRepeated) offset = Number(time) - Date.now();
    await response.body?.cancel();
    return sendSigned(own, url, init);
  };
}

async function signature({ publicKey, privateKey }: PageKey, url: string, init: RequestInit, time: number) {
  const { pathname, search } = new URL(url, "http://localhost");
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(16)));
  const body = await bodyHash(init.body);
  const text = pageSignatureText({ method: init.method ?? "GET", target: pathname + search, time, nonce, body });
  const signed = await crypto.subtle.sign(ALGORITHM, privateKey, bytes(text));
  return [publicKey, time, nonce, body, base64url(signed)].join(".");
}

async function bodyHash(body: RequestInit["body"]): Promise<string> {
  if (body === undefined || body === null) return "";
  if (body instanceof FormData) return FORM_BODY;
  if (typeof body !== "string") throw new TypeError("Only text and forms can be signed.");
  return base64url(await crypto.subtle.digest("SHA-256", bytes(body)));
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const base64url = (buffer: ArrayBuffer | Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
