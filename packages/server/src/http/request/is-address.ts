import type { IncomingMessage } from "node:http";

/** Whether the request has a valid path and one valid host. The adapter would answer others with an empty response. */
export function isAddress({ url, headers, rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
  const name = headers.host?.replace(/:\d+$/, "").toLowerCase();
  const isUsual = URL.parse(`http://${headers.host}${url}`)?.hostname === name;
  return names.length === 1 && isUsual && url?.startsWith("/") === true && !url.includes("\\");
}
