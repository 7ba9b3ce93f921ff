import { stdio } from "@tandem/protocol";
import { isResumable, type Route } from "../http/route.ts";
import { refusedRoutes } from "../http/routes/server/refused-routes.ts";
import { defaultLimits } from "./stdio-limits.ts";
import { methods } from "./methods.ts";
import { stdioSchema } from "./stdio-schema.ts";

const INTRODUCTION = `# Lines of \`tandem stdio\`

Every operation of [the HTTP API](api.md) is a method, from the same table of routes: same checks, same results, same
errors. [The guide](../guides/stdio.md) shows a whole session. \`tandem stdio --schema\` prints a JSON Schema of every line:
a host writes a \`HostLine\` and reads a \`TandemLine\`. \`Request.METHOD\`, \`Result.METHOD\` and \`Event.METHOD\` are a
method's parameters, answer and streamed events. The schema belongs to the version that prints it: later versions of
protocol ${stdio.PROTOCOL} may add methods, events and fields, but remove none.

A line is one JSON object in UTF-8, ended by \`\\n\`, of at most ${defaultLimits.lineBytes / 1024 / 1024} MiB. Other characters that some readers take for the end
of a line (U+0085, U+2028, U+2029) are escaped in Tandem's lines.

| from the host | |
| --- | --- |
| \`{"id":1,"method":"…","params":{…}}\` | a request. The host chooses \`id\`, a string or an integer, and may reuse it after the answer; a stream's, after its end |

| from Tandem | |
| --- | --- |
| \`{"hello":{…}}\` | the first line: \`protocol\`, \`version\`, \`engine\`, \`capabilities\`, \`limits\` |
| \`{"id":1,"result":…}\` | the answer |
| \`{"id":1,"error":{"type":"…","message":"…","status":404}}\` | or the error, with the type and status of HTTP. \`"id":null\` if a line could not be read, or Tandem could not start |
| \`{"stream":1,"cursor":"7","event":{…}}\` | an event of the stream that request 1 has opened. Previews have no cursor |
| \`{"stream":1,"end":{"cursor":"7"}}\` | its last line; with an \`error\` if it broke off. A request with \`after\` set to the cursor continues it without gap or repeat |

Answers arrive in any order. At most ${defaultLimits.requests} requests and ${defaultLimits.streams} streams are open at once; one more is an error
with status 429. A line that is too long is an error with status 413, in either direction. While the host does not read,
Tandem does not read its lines either, and streams wait.

## Connection

| method | params | |
| --- | --- | --- |
| \`hello\` | \`protocol\`, \`client\`? | The protocol of the host: ${stdio.PROTOCOL}. It must be the first request. Another version is an error, \`protocol_mismatch\`, whose \`details.protocols\` are the supported ones. |
| \`cancel\` | \`id\` | End a stream, or stop waiting for an answer; completed effects of the request remain. \`cancelled\` is false if no request or stream had that id. |

## Methods

Path and query parameters of HTTP are params too, with the same names; lists are JSON arrays. Files
are base64 in \`content\`, so that one of ${Math.floor((defaultLimits.lineBytes * 3) / 4 / 1024 / 1024)} MiB fits into a line. Params with a question mark are optional.
`;

/** Renders the reference of every line and method. */
export function stdioReference(): string {
  const { $defs } = stdioSchema() as { $defs: Record<string, unknown> };
  const sections = Map.groupBy(methods.values(), ({ name }) => name.slice(0, name.lastIndexOf(".")));
  const tables = [...sections].map(([name, routes]) => {
    const rows = routes.map((route) => row(route, $defs[`Request.${route.name}`]));
    return `### ${name}\n\n${["| method | params | |", "| --- | --- | --- |", ...rows].join("\n")}\n`;
  });
  const missing = refusedRoutes.filter(({ isAnthropic }) => isAnthropic);
  const refused = missing.map(({ name }) => `\`${name}\``).join(", ");
  return [INTRODUCTION, ...tables, `### Refused\n\nWith status 404: ${refused}, and all that is below them.\n`].join(
    "\n",
  );
}

interface Fields {
  properties?: Record<string, unknown>;
  required?: string[];
  anyOf?: Fields[];
}

function row(route: Route, definition: unknown): string {
  const { params } = (definition as { properties: { params: Fields } }).properties;
  const forms = params.anyOf ?? [params];
  const names = [...new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const isNeeded = (name: string): boolean => forms.every(({ required = [] }) => required.includes(name));
  const shown = names.map((name) => `\`${name}\`${isNeeded(name) ? "" : "?"}`).join(", ");
  const kind = route.kind === "stream" ? (isResumable(route) ? "*Stream.* " : "*Stream, restarts each time.* ") : "";
  return `| \`${route.name}\` | ${shown} | ${kind}${summaryOf(route)}. |`;
}

/** Translates HTTP terms to stdio. */
const summaryOf = ({ summary }: Route): string => summary.replaceAll("`Last-Event-ID`", "`after`");
