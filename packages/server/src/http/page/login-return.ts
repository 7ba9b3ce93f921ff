/** Where the browser comes back from the login page of an MCP server. */
export const LOGIN_RETURN_PATH = "/oauth/return";

const FIELDS = ["state", "code", "iss", "error", "error_description"];

/**
 * Sends the browser on to the vaults. Requests that other sites cause are refused, and a redirect would still be one; this page
 * makes the browser ask by itself. It has no effect: the vaults' page finishes the login with a signed request.
 */
export function loginReturn(query: URLSearchParams): Response {
  const kept = new URLSearchParams();
  for (const name of FIELDS) {
    const value = query.get(name);
    if (value !== null) kept.set(name, value);
  }
  // A query in this encoding has no character that could end the attribute.
  const target = `/settings/vaults?${kept.toString()}`.replaceAll("&", "&amp;");
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tandem</title>
<meta http-equiv="refresh" content="0;url=${target}">
<p><a href="${target}">Continue to Tandem</a></p>
</html>
`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}
