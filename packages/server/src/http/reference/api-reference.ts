import { z } from "zod";
import { describedRoutes } from "../route-table.ts";
import type { Route, SignedRoute } from "../route.ts";
import { STATUS } from "../error-reply.ts";
import { pageOf } from "./route-pages.ts";
import { refusedRoutes } from "../routes/server/refused-routes.ts";

const INTRODUCTION = `# The HTTP API

Tandem speaks Anthropic's Managed Agents API, so that the official SDKs are its clients: only the base URL and the key
change ([method by method](conformance.md)). Additions to Anthropic's API are marked as *ours*. One table of routes
answers the requests and generates this page and the OpenAPI 3.1 document at \`/openapi.json\`.

\`\`\`ts
const client = new Anthropic({ baseURL: "http://127.0.0.1:4760", apiKey: token });
\`\`\`

## Tokens

Every request needs a token, on loopback too, as \`authorization: Bearer …\` or \`x-api-key\`. Exceptions: \`/healthz\` and
\`/readyz\`, which answer 204 without content (\`/readyz\` 503 with a \`reason\` while the server is not ready); a trigger's
address, which needs a valid signature; and the page's sign-in, which needs a one-time code. The first start creates one, in a file that only its owner can read. A token has a
scope: \`read\` only reads, \`run\` also works with sessions and files, \`admin\` may do everything. Streams end when their token is
revoked.

The server refuses web pages of other origins (another port of localhost is another origin) and requests with an unknown
Host header, unless the settings allow them. Bodies are JSON, except for file uploads.

## Errors

\`\`\`json
{ "type": "error", "error": { "type": "not_found_error", "message": "…" }, "request_id": "req_…" }
\`\`\`

| status | when |
| --- | --- |
| 400 | invalid request; the message names the field and the expected value. Unknown fields and query parameters are invalid |
| 401 | no valid token |
| 403 | insufficient scope, foreign origin or host, or a folder outside the roots |
| 404 | not found, or a part of Anthropic's API that Tandem does not have |
| 405, 415 | wrong method or content type |
| 409 | conflict: another client or request was first; \`x-should-retry: false\` |
| 413 | the body is too large |
| 429 | too many streams or uploads at once |
| 500 | an internal error; the log has details under the \`request_id\` |
| 501 | a part of Tandem that this server does not have; \`x-should-retry: false\` |
| 503 | the database cannot be reached, or the server is stopping: try again |
| 504 | timeout |

## Streams

Frames of Anthropic's events are \`event: message\`; Tandem's own have their type, such as \`event: tandem.todo\`. A frame's
\`id\` is the event's position in the session's log. With it as \`Last-Event-ID\`, the stream continues after that event without
gap or repeat. Without it, the stream starts now, as on the hosted service: open it, list the events, and skip those whose \`id\`
you have.

Previews (\`event_start\`, \`event_delta\`) have no id and are never stored. They come for the types in \`event_deltas[]\`, from
their beginning: a stream opened during an answer starts with its text so far. With \`tandem=true\` there are also previews of
thinking and of tool input, and \`tandem.\` events, also while the session is idle; without it, \`session.status_idle\` is the last
event of a turn.

A comment every 15 seconds keeps a silent stream alive. A slow client gets no previews; one far behind is disconnected, with
\`tandem=true\` after \`tandem.resync\` with the id to continue after. When the server stops, a comment says so.

A job's stream starts with its first event, or after \`Last-Event-ID\`, and ends with the job.

## MCP

\`/mcp\` serves the tools of the project's context to MCP clients (streamable HTTP) with the same tokens: \`read\` for tools that
only read, \`run\` for tools that start work. Each client has its own session, which ends when the client closes it, after half an
hour of silence, or with its token. See [the guide](../guides/mcp.md).

## Retries

Every POST of this API but \`/v1/messages\` is safe to retry, over a restart of the server and at any server on the same database.

- **With an \`Idempotency-Key\`** (1 to 255 visible characters, your own for each request), requests with the same key are
  one: the first runs, the others wait for it and get its answer. The same key with another address or body is a 409. A key
  belongs to the token and lasts 24 hours.
- **The official clients** send no key. They retry when a connection breaks before the answer or after their timeout, and
  count the tries in \`x-stainless-retry-count\`. A retry gets the answer of the earlier try: the request with the same token,
  address and body that still runs or whose answer could not be written (within twice the client's timeout), else one that was
  answered in the last seconds (about ten for each try). A request with the count 0 always runs, so that two equal creates
  are two.
- **A send** is stored once: its events keep their ids in every try, and a retry is answered with the events that are there.
  That is also so if the first try failed with a 500 or 503 after the events were stored.

Only successful answers are kept. A request that was refused or has failed runs again. Answers over 256 KiB and new tokens are
not kept: their retry is a 409 that says that the request was carried out. If the server dies while it creates a session, an
agent, an environment or a file or stores events, the retry finds what is there; other requests run again. Such a retry waits
15 seconds for a sign of life of the first try. Streams are GETs and resume with
\`Last-Event-ID\`. \`/mcp\` and \`/acp\` have rules of their own.
`;

/** Renders the reference of every route. */
export function apiReference(): string {
  const sections = new Map<string, (Route | SignedRoute)[]>();
  for (const route of describedRoutes) {
    const section = route.name.slice(0, route.name.lastIndexOf("."));
    sections.set(section, [...(sections.get(section) ?? []), route]);
  }
  const tables = [...sections].map(
    ([name, routes]) =>
      `### ${name}\n\nRequests and responses: [${pageOf(routes[0]!)}](api/${pageOf(routes[0]!)}.md).\n\n${table(HEADINGS, routes.map(routeRow))}\n`,
  );
  return [INTRODUCTION, "## Routes\n", ...tables, refusals()].join("\n");
}

const HEADINGS = ["", "scope", "", "query"];

function routeRow(route: Route | SignedRoute): string[] {
  const query = Object.entries(route.query.shape).map(([name, field]) => `\`${isList(field) ? `${name}[]` : name}\``);
  const ours = route.extension ? "*Ours.* " : "";
  return [
    `\`${route.method} ${route.path}\``,
    route.kind === "signed" ? "none" : route.scope,
    `${ours}${route.summary}.`,
    query.join(", "),
  ];
}

function isList(field: unknown): boolean {
  return field instanceof z.ZodOptional ? isList(field.unwrap()) : field instanceof z.ZodArray;
}

const refusals = (): string =>
  `### Refused\n\nThese and all that is below them, with \`x-should-retry: false\`.\n\n${table(
    ["", "", ""],
    refusedRoutes.map(({ path, code, reason }) => [`\`${path}\``, String(STATUS[code].status), reason]),
  )}\n`;

const table = (headings: readonly string[], rows: readonly string[][]): string =>
  [headings, headings.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
