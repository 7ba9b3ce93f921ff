/** The ids of the places that count in one process of Claude Code. */
export interface Candidates {
  /** The switch of a cloud service; nothing else is used then. */
  cloud?: string | undefined;
  apiKey?: string | undefined;
  authToken?: string | undefined;
  oauthToken?: string | undefined;
  helper?: string | undefined;
  /** A login that may make requests. */
  login?: string | undefined;
  /** The key that a login of a Console account left. */
  loginKey?: string | undefined;
  /** Custom headers that carry a credential themselves. */
  headers?: { id: string; carried: readonly ("authorization" | "x-api-key")[] } | undefined;
}

/** The place of the credential in each of the two headers of a request. */
export interface Sent {
  "x-api-key"?: string;
  authorization?: string;
}

/**
 * What Claude Code sends when it is run by a program (`claude -p`, the Agent SDK), as measured on the wire. It does not
 * always choose: a key and a token that are both there are both sent, and the service decides. In a terminal, it uses
 * ANTHROPIC_API_KEY only after it has asked.
 */
export function whatIsSent(candidates: Candidates): Sent {
  if (candidates.cloud !== undefined) return {};
  const { apiKey, authToken, oauthToken, helper, login, loginKey, headers } = candidates;
  const ofSubscription = oauthToken ?? login;
  // A key, a token for a gateway or a helper keeps a subscription out of it.
  const subscription = apiKey === undefined && authToken === undefined && helper === undefined && ofSubscription;
  const sent: Sent = subscription
    ? { authorization: subscription }
    : defined({ "x-api-key": apiKey ?? helper ?? loginKey, authorization: authToken ?? helper });
  for (const header of headers?.carried ?? []) sent[header] = headers!.id;
  return sent;
}

const defined = (sent: { [header in keyof Sent]: Sent[header] | undefined }): Sent =>
  Object.fromEntries(Object.entries(sent).filter(([, id]) => id !== undefined));
