import { stdio } from "@tandem/protocol";
import type { z } from "zod";
import { isResumable } from "../http/route.ts";
import { Components, type Json } from "../http/schemas/components.ts";
import { AFTER, methods, pathNames, type StdioRoute } from "./methods.ts";

interface ObjectSchema extends Json {
  properties?: Record<string, Json>;
  required?: string[];
}

const afterParam: Json = {
  type: "string",
  description:
    "Continue after the event with this cursor. Without it, the stream begins now; that of a job, with its first event.",
};

/** The JSON Schema of the protocol: the root matches any line, in either direction. */
export function stdioSchema(): Json {
  const components = new Components("#/$defs/");
  const own: [string, Json, Json][] = [
    ["hello", components.of(stdio.helloParams, "input"), components.of(stdio.helloResult, "output")],
    ["cancel", components.of(stdio.cancelParams, "input"), components.of(stdio.cancelResult, "output")],
  ];
  const routes = [...methods.values()].map((route): [string, Json, Json] => [
    route.name,
    paramsOf(route, components),
    resultOf(route, components),
  ]);
  const all = [...own, ...routes];
  const id = components.of(stdio.requestId, "input");
  const lines = [stdio.helloLine, stdio.resultLine, stdio.errorLine, stdio.eventLine, stdio.endLine].map((line) =>
    components.of(line, "output"),
  );
  const streams = [...methods.values()].flatMap((route): [string, Json][] =>
    route.kind === "stream" ? [[`Event.${route.name}`, components.of(route.frame, "output")]] : [],
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `Lines of \`tandem stdio\`, protocol ${stdio.PROTOCOL}`,
    anyOf: [{ $ref: "#/$defs/HostLine" }, { $ref: "#/$defs/TandemLine" }],
    $defs: {
      HostLine: {
        description: "Lines that a host writes.",
        anyOf: all.map(([name]) => ({ $ref: `#/$defs/Request.${name}` })),
      },
      TandemLine: { description: "Lines that Tandem writes.", anyOf: lines },
      ...Object.fromEntries(all.map(([name, params]) => [`Request.${name}`, requestOf(name, id, params)])),
      ...Object.fromEntries(all.map(([name, , result]) => [`Result.${name}`, result])),
      ...Object.fromEntries(streams),
      ...components.schemas,
    },
  };
}

function requestOf(name: string, id: Json, params: Json): Json {
  const route = methods.get(name);
  const { required = [] } = params as ObjectSchema;
  return {
    ...(route && { description: `${route.summary}.` }),
    type: "object",
    properties: { id, method: { const: name }, params },
    required: ["id", "method", ...(required.length > 0 || "$ref" in params || "anyOf" in params ? ["params"] : [])],
    additionalProperties: false,
  };
}

function paramsOf(route: StdioRoute, components: Components): Json {
  const query = components.of(route.query, "input") as ObjectSchema;
  const names = pathNames(route);
  const known: ObjectSchema = {
    type: "object",
    properties: {
      ...Object.fromEntries(names.map((name) => [name, { type: "string" }])),
      ...Object.fromEntries(Object.entries(query.properties ?? {}).map(([name, field]) => [name, relaxed(field)])),
      ...(isResumable(route) && { [AFTER]: afterParam }),
    },
    required: [...names, ...(query.required ?? [])],
  };
  const body = bodyOf(route);
  if (!body) return { ...known, additionalProperties: false };
  return merged(known, withoutId(body, components));
}

function bodyOf(route: StdioRoute): z.ZodType | undefined {
  switch (route.kind) {
    case "json":
      return route.body;
    case "upload":
      return stdio.fileParams.extend(route.body.shape);
    case "download":
    case "stream":
      return undefined;
  }
}

/** Inlines the schema instead of a reference, because fields are added beside its own. */
function withoutId(body: z.ZodType, components: Components): ObjectSchema {
  const schema = components.of(body, "input");
  const name = typeof schema["$ref"] === "string" ? schema["$ref"].replace("#/$defs/", "") : undefined;
  return name === undefined ? schema : components.schemas[name]!;
}

/** Adds the fields of path and query to each variant of the body. */
function merged(known: ObjectSchema, body: ObjectSchema): Json {
  for (const forms of ["anyOf", "oneOf"]) {
    const branches = body[forms];
    if (Array.isArray(branches)) return { anyOf: branches.map((branch) => merged(known, branch as ObjectSchema)) };
  }
  return {
    ...body,
    properties: { ...known.properties, ...body.properties },
    required: [...known.required!, ...(body.required ?? [])],
  };
}

/** In a URL everything is text. Here, numbers and booleans are accepted as such. */
function relaxed(field: Json): Json {
  const { enum: values, description, default: usual } = field;
  if (!Array.isArray(values) || values.length !== 2 || !values.includes("true") || !values.includes("false"))
    return field;
  return {
    type: "boolean",
    ...(description !== undefined && { description }),
    ...(usual !== undefined && { default: usual === "true" }),
  };
}

function resultOf(route: StdioRoute, components: Components): Json {
  switch (route.kind) {
    case "json":
    case "upload":
      return components.of(route.response, "output");
    case "download":
      return components.of(stdio.fileResult, "output");
    case "stream":
      return components.of(stdio.streamResult, "output");
  }
}
