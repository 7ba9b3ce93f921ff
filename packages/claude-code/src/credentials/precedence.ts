/** Ids of the credentials available to one Claude Code process. */
export interface Candidates {
  /** The switch for a cloud provider; it excludes all other credentials. */
  cloud?: string | undefined;
  apiKey?: string | undefined;
  authToken?: string | undefined;
  oauthToken?: string | undefined;
  helper?: string | undefined;
  /** A login that can make requests. */
  login?: string | undefined;
  /** The API key created by a Console login. */
  loginKey?: string | undefined;
  /** Custom headers that carry a credential. */
  headers?: { id: string; carried: readonly ("authorization" | "x-api-key")[] } | undefined;
}

/** Source of the credential in each of the two request headers. */
export interface Sent {
  "x-api-key"?: string;
  authorization?: string;
}

/**
 * The credentials that Claude Code sends when a program runs it (`claude -p`, the Agent SDK), as measured on the wire.
 * It does not always choose: with both a key and a token it sends both, and the service decides. In a terminal it uses
 * ANTHROPIC_API_KEY only after asking.
 */
export function sentCredentials(candidates: Candidates): Sent {
  if (candidates.cloud !== undefined) return {};
  const { apiKey, authToken, oauthToken, helper, login, loginKey, headers } = candidates;
  const ofSubscription = oauthToken ?? login;
  // An API key, a gateway token or a helper takes precedence over a subscription.
  const subscription = apiKey === undefined && authToken === undefined && helper === undefined && ofSubscription;
  const sent: Sent = subscription
    ? { authorization: subscription }
    : defined({ "x-api-key": apiKey ?? helper ?? loginKey, authorization: authToken ?? helper });
  for (const header of headers?.carried ?? []) sent[header] = headers!.id;
  return sent;
}

const defined = (sent: { [header in keyof Sent]: Sent[header] | undefined }): Sent =>
  Object.fromEntries(Object.entries(sent).filter(([, id]) => id !== undefined));
