type Headers = Readonly<Record<string, string>>;

export interface LimitHeaders {
  /** When the quota that was hit is full again. */
  resetsAt?: Date;
  retryAfterMs?: number;
}

/** What a refusal says about when to come back. Header names in lower case. */
export function readLimitHeaders(headers: Headers, now = Date.now()): LimitHeaders {
  const resetsAt = unifiedReset(headers) ?? exhaustedReset(headers);
  const retryAfterMs = retryAfter(headers, now);
  return { ...(resetsAt && { resetsAt }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** The limit of a plan: one reset for all of it, in seconds since the epoch. */
function unifiedReset(headers: Headers): Date | undefined {
  const status = headers["anthropic-ratelimit-unified-status"];
  if (status !== undefined && status !== "rejected") return undefined;
  return parseTime(headers["anthropic-ratelimit-unified-reset"]);
}

/** An API key has a limit for requests and several for tokens: those with nothing left count, and the last of them. */
function exhaustedReset(headers: Headers): Date | undefined {
  const times = Object.keys(headers).flatMap((name) => {
    const limit = /^anthropic-ratelimit-(.+)-remaining$/.exec(name)?.[1];
    if (!limit || limit.startsWith("unified") || Number(headers[name]) > 0) return [];
    return parseTime(headers[`anthropic-ratelimit-${limit}-reset`]) ?? [];
  });
  return times.sort((a, b) => b.getTime() - a.getTime())[0];
}

function retryAfter(headers: Headers, now: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Seconds since the epoch, or a date in ISO form. */
function parseTime(value: string | undefined): Date | undefined {
  if (!value) return undefined;
  const seconds = Number(value);
  const time = new Date(Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value));
  return Number.isNaN(time.getTime()) ? undefined : time;
}
