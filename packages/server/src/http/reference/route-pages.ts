import { z } from "zod";
import { describedRoutes } from "../route-table.ts";
import { isResumable, type Route, type SignedRoute } from "../route.ts";
import { Components, type Json } from "../schemas/components.ts";
import { referencesOf, renderShape } from "./render-shape.ts";

/** Small groups, on one page. */
const SERVER = new Set([
  "approvals",
  "audit",
  "budgets",
  "commands",
  "credentials",
  "emergency",
  "feed",
  "fleet",
  "mcp_servers",
  "models",
  "notifications",
  "openapi",
  "rules",
  "sandbox",
  "status",
  "tenant",
  "tenants",
  "tokens",
  "trust",
  "usage",
  "worktrees",
]);
const CONTEXT = new Set(["context", "jobs", "proposals"]);

/** The page of a route, without its ending. */
export function pageOf({ name }: Pick<Route, "name">): string {
  const group = name.split(".")[0]!;
  if (group === "triggers") return "deployments";
  if (SERVER.has(group)) return "server";
  if (CONTEXT.has(group)) return "context";
  return group.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Renders every route with its request and response, by the name of the page. */
export function routePages(): Map<string, string> {
  const pages = Map.groupBy(describedRoutes, pageOf);
  return new Map([...pages].map(([name, routes]) => [name, renderPage(name, routes)]));
}

function renderPage(name: string, routes: readonly (Route | SignedRoute)[]): string {
  const components = new Components("#/");
  const sections = routes.map((route) => renderRoute(route, components));
  const used = usedBy(
    sections.flatMap(({ schemas }) => schemas),
    components.schemas,
  );
  const shapes = used.map((each) => {
    const { description } = components.schemas[each]!;
    const text = typeof description === "string" ? `${description}\n\n` : "";
    return `### ${each}\n\n${text}${typescript(`type ${each} = `, components.schemas[each]!)}\n`;
  });
  return [
    `# HTTP API: ${name}`,
    "",
    "Tokens, errors, streams and retries: [HTTP API](../api.md). `?` marks fields that may be missing. Routes that are marked as",
    "*ours* are not part of Anthropic's API.",
    "",
    ...sections.map(({ text }) => text),
    ...(shapes.length > 0 ? ["## Shapes", "", ...shapes] : []),
  ].join("\n");
}

function renderRoute(route: Route | SignedRoute, components: Components): { text: string; schemas: Json[] } {
  const query = components.of(route.query, "input");
  const body = inlined(bodyOf(route, components), components);
  const response = responseOf(route, components);
  const hasQuery = Object.keys((query["properties"] as Json | undefined) ?? {}).length > 0;
  const parts = [
    `## ${route.name}`,
    `\`${route.method} ${route.path}\` · ${route.kind === "signed" ? "a signature instead of a token" : `scope \`${route.scope}\``}${route.extension ? " · *ours*" : ""}`,
    `${route.summary}.`,
    ...(hasQuery ? [`Query:\n\n${typescript("", query)}`] : []),
    ...(isResumable(route) ? ["Header `Last-Event-ID`: resume after this event."] : []),
    ...(body ? [`${route.kind === "upload" ? "Form" : "Body"}:\n\n${typescript("", body)}`] : []),
    response ? said(route.kind === "stream" ? "Each frame's data" : "Response", response) : "Response: the bytes.",
  ];
  return { text: `${parts.join("\n\n")}\n`, schemas: [query, body ?? {}, response ?? {}] };
}

function bodyOf(route: Route | SignedRoute, components: Components): Json | undefined {
  if (route.kind === "json" || route.kind === "passed" || route.kind === "signed")
    return route.body && components.of(route.body, "input");
  if (route.kind !== "upload") return undefined;
  return components.of(route.body.extend(route.many ? { files: z.array(z.file()) } : { file: z.file() }), "input");
}

function responseOf(route: Route | SignedRoute, components: Components): Json | undefined {
  if (route.kind === "download") return undefined;
  if (route.kind === "signed") return components.of(route.receipt, "output");
  if (route.kind === "passed") return components.of(route.answer, "output");
  return components.of(route.kind === "stream" ? route.frame : route.response, "output");
}

/** A body is mostly used by one route: its fields stand there. */
const inlined = (body: Json | undefined, { schemas }: Components): Json | undefined =>
  body && (schemas[referencesOf({ $ref: body["$ref"] ?? "" })[0] ?? ""] ?? body);

/** A shape with a name is linked. */
function said(label: string, schema: Json): string {
  const { $ref } = schema;
  if (typeof $ref !== "string") return `${label}:\n\n${typescript("", schema)}`;
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  return `${label}: [\`${name}\`](#${name.toLowerCase()})`;
}

const typescript = (before: string, schema: Json): string => `\`\`\`ts\n${before}${renderShape(schema)}\n\`\`\``;

/** The named shapes that these schemas refer to, also through others, by name. */
function usedBy(schemas: readonly Json[], named: Readonly<Record<string, Json>>): string[] {
  const found = new Set<string>();
  for (const queue = referencesOf(schemas); queue.length > 0;) {
    const name = queue.pop()!;
    if (found.has(name) || !named[name]) continue;
    found.add(name);
    queue.push(...referencesOf(named[name]));
  }
  return [...found].toSorted();
}
