import type { IncomingMessage } from "node:http";
import { framingProblem, headerPairs, valuesOf } from "../request-headers.ts";

export type ApiOperation = "create" | "count_tokens" | "models" | "account";

export type ApiJudgement =
  | { allowed: true; operation: ApiOperation }
  | { allowed: false; status: number; message: string };

interface ApiRoute {
  operation: ApiOperation;
  method: "GET" | "POST";
  path: RegExp;
  query: RegExp;
}

/** Each expression matches the whole text, without escapes or dot segments: another server could read those differently. */
const ROUTES: readonly ApiRoute[] = [
  { operation: "create", method: "POST", path: /^\/v1\/messages$/, query: /^(?:beta=true)?$/ },
  { operation: "count_tokens", method: "POST", path: /^\/v1\/messages\/count_tokens$/, query: /^(?:beta=true)?$/ },
  {
    operation: "models",
    method: "GET",
    path: /^\/v1\/models(?:\/\w[\w.:@-]{0,199})?$/,
    query: /^(?:(?:beta|limit|after_id|before_id)=[\w.:@-]{1,200}(?:&|$)){0,4}$/,
  },
  // Settings and limits that an organization has set for the account. Without an answer, Claude Code starts 17 s later.
  { operation: "account", method: "GET", path: /^\/api\/claude_code\/(?:settings|policy_limits)$/, query: /^$/ },
];

const HOSTS = /^(?:localhost|127\.0\.0\.1|\[::1\]|api\.anthropic\.com)(?::\d{1,5})?$/i;

/** Decides from the head of a request. Requests that Claude Code does not need are refused. */
export function judgeApiRequest({
  method,
  url = "",
  rawHeaders,
}: Pick<IncomingMessage, "method" | "url" | "rawHeaders">): ApiJudgement {
  const pairs = headerPairs(rawHeaders);
  const problem = framingProblem(pairs);
  if (problem !== undefined) return refuse(400, problem);
  if (!HOSTS.test(valuesOf(pairs, "host")[0] ?? "")) return refuse(403, "This socket serves the model's API only.");
  if (valuesOf(pairs, "upgrade").length > 0) return refuse(403, "This socket does not upgrade connections.");
  if (valuesOf(pairs, "content-encoding").length > 0) return refuse(415, "Send the body without Content-Encoding.");
  if (!url.startsWith("/")) return refuse(403, "This socket serves the model's API only and is not a proxy.");
  const [, path = "", query = ""] = /^([^?]*)(?:\?(.*))?$/s.exec(url)!;
  const route = ROUTES.find((each) => each.method === method && each.path.test(path) && each.query.test(query));
  if (!route)
    return refuse(403, "The sandbox allows only requests for messages, token counts, models and account settings.");
  if (route.method === "GET" && hasBody(pairs)) return refuse(400, "A GET request has no body.");
  return { allowed: true, operation: route.operation };
}

const hasBody = (pairs: ReturnType<typeof headerPairs>): boolean =>
  valuesOf(pairs, "transfer-encoding").length > 0 ||
  valuesOf(pairs, "content-length").some((value) => Number(value) > 0);

const refuse = (status: number, message: string): ApiJudgement => ({ allowed: false, status, message });
