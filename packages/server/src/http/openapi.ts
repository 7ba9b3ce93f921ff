import { errorBody } from "@tandem/protocol";
import { z } from "zod";
import { isResumable, type Route, type SignedRoute } from "./route.ts";
import { Components, type Json } from "./schemas/components.ts";

/** Renders the routes as an OpenAPI 3.1 document. Schemas with an id become components. */
export function describeApi(routes: readonly (Route | SignedRoute)[]): Json {
  const components = new Components("#/components/schemas/");
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const error = components.of(errorBody, "output");
  return {
    openapi: "3.1.0",
    info: {
      title: "Tandem",
      version: "1",
      description:
        "Claude Code behind Anthropic's Managed Agents API. Operations marked `x-tandem` are Tandem's own; all others are Anthropic's.",
    },
    security: [{ bearer: [] }, { key: [] }],
    paths: {
      ...paths,
      "/healthz": health("Whether the process is alive"),
      "/readyz": health(
        "Whether it can serve: not while it joins a fleet, is stopping, its database cannot be reached, or the disk is full",
      ),
    },
    components: {
      schemas: components.schemas,
      responses: { Error: { description: "The failure, in a sentence.", content: json(error) } },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        key: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

const json = (schema: Json): Json => ({ "application/json": { schema } });

const health = (summary: string): Json => ({
  get: { summary, security: [], responses: { 204: { description: "Yes." }, 503: { description: "No." } } },
});

function operation(route: Route | SignedRoute, components: Components): Json {
  const body = requestBody(route, components);
  return {
    operationId: route.name,
    tags: [route.name.slice(0, route.name.lastIndexOf("."))],
    summary: route.summary,
    ...(route.kind === "signed" ? { security: [] } : { "x-scope": route.scope }),
    ...(route.extension && { "x-tandem": true }),
    parameters: [...pathParameters(route), ...queryParameters(route, components), ...headerParameters(route)],
    ...(body && { requestBody: { required: true, content: body } }),
    responses: {
      [route.kind === "signed" ? 202 : 200]: { description: route.summary, content: answer(route, components) },
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function requestBody(route: Route | SignedRoute, components: Components): Json | undefined {
  switch (route.kind) {
    case "json":
    case "passed":
    case "signed":
      return route.body && json(components.of(route.body, "input"));
    case "upload": {
      const form = components.of(
        route.body.extend(route.many ? { files: z.array(z.file()) } : { file: z.file() }),
        "input",
      );
      return { "multipart/form-data": { schema: form } };
    }
    case "download":
    case "stream":
      return undefined;
  }
}

function answer(route: Route | SignedRoute, components: Components): Json {
  switch (route.kind) {
    case "json":
    case "upload":
      return json(components.of(route.response, "output"));
    case "signed":
      return json(components.of(route.receipt, "output"));
    case "download":
      return { "application/octet-stream": { schema: {} } };
    case "stream":
      // OpenAPI 3.1 cannot describe streams: this is the schema of each frame's data.
      return { "text/event-stream": { schema: components.of(route.frame, "output") } };
    case "passed":
      return { ...json(components.of(route.answer, "output")), "text/event-stream": { schema: {} } };
  }
}

const pathParameters = ({ path }: Pick<Route, "path">): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));

function queryParameters({ query }: Pick<Route, "query">, components: Components): Json[] {
  const { properties = {}, required = [] } = components.of(query, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name: schema["type"] === "array" ? `${name}[]` : name,
    in: "query",
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema,
  }));
}

function headerParameters(route: Route | SignedRoute): Json[] {
  if (!isResumable(route)) return [];
  return [
    {
      name: "Last-Event-ID",
      in: "header",
      description: "Continue after the event with this id. Without it, the stream begins now.",
      required: false,
      schema: { type: "string" },
    },
  ];
}
