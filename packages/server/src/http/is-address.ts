import type { IncomingMessage } from "node:http";

/** A path on this server, called by one name, in its usual form: what the adapter would turn away with an empty answer. */
export function isAddress({ url, headers, rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
  const name = headers.host?.replace(/:\d+$/, "").toLowerCase();
  const isUsual = URL.parse(`http://${headers.host}${url}`)?.hostname === name;
  return names.length === 1 && isUsual && url?.startsWith("/") === true && !url.includes("\\");
}
