/**
 * The address of an MCP server for comparisons: scheme and host in lower case, without default port and trailing slash. The
 * query is part of it, the fragment is not.
 */
export function normalServerUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.protocol}//${url.host}${path}${url.search}`;
}

/** Whether two URLs name the same MCP server. Another path, subdomain or port is another server. */
export const sameServer = (a: string, b: string): boolean => normalServerUrl(a) === normalServerUrl(b);
