type Headers = Readonly<Record<string, string>>;

export interface LimitHeaders {
  /** When the exhausted quota resets. */
  resetsAt?: Date;
  retryAfterMs?: number;
}

/** Reads the reset and retry times of a rejected request. Header names in lower case. */
export function readLimitHeaders(headers: Headers, now = Date.now()): LimitHeaders {
  const resetsAt = unifiedReset(headers) ?? exhaustedReset(headers);
  const retryAfterMs = retryAfter(headers, now);
  return { ...(resetsAt && { resetsAt }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** A plan has one reset, in seconds since the epoch. */
function unifiedReset(headers: Headers): Date | undefined {
  const status = headers["anthropic-ratelimit-unified-status"];
  if (status !== undefined && status !== "rejected") return undefined;
  return parseTime(headers["anthropic-ratelimit-unified-reset"]);
}

/** An API key has limits for requests and for tokens. The latest reset among the exhausted ones counts. */
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

/** Parses seconds since the epoch, or an ISO date. */
function parseTime(value: string | undefined): Date | undefined {
  if (!value) return undefined;
  const seconds = Number(value);
  const time = new Date(Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value));
  return Number.isNaN(time.getTime()) ? undefined : time;
}
