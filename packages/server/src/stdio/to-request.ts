import { RequestError, stdio } from "@tandem/protocol";
import { describeIssues } from "../http/request/describe-issues.ts";
import { isResumable, type Route } from "../http/route.ts";
import { AFTER, pathNames, queryNames } from "./methods.ts";
import type { WireRequest } from "./wire.ts";

type Params = Readonly<Record<string, unknown>>;

/**
 * Converts a method and its params to an HTTP request. Path and query params are found by name; the rest is the body,
 * which the API validates.
 */
export async function toRequest(route: Route, params: Params): Promise<Omit<WireRequest, "signal">> {
  const rest = new Map(Object.entries(params));
  const take = (name: string): unknown => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  let path: string = route.path;
  for (const name of pathNames(route)) path = path.replace(`:${name}`, pathSegment(name, take(name)));
  const headers: Record<string, string> = {};
  if (isResumable(route)) {
    const after = take(AFTER);
    if (typeof after === "string" && after !== "") headers["last-event-id"] = after;
    else if (after !== undefined) throw wrong(`${AFTER}: expected the cursor of an event, which is a string`);
  }
  const search = new URLSearchParams();
  const takesBody = route.kind === "upload" || (route.kind === "json" && route.body !== undefined);
  const inQuery = takesBody ? queryNames(route) : [...rest.keys()];
  for (const name of inQuery) if (rest.has(name)) addQuery(search, name, take(name));
  const query = search.size > 0 ? `?${search.toString()}` : "";
  const body = await bodyOf(route, takesBody ? Object.fromEntries(rest) : undefined);
  return { method: route.method, path: path + query, headers: { ...headers, ...body?.headers }, body: body?.bytes };
}

interface Body {
  bytes: Buffer;
  headers: Record<string, string>;
}

async function bodyOf(route: Route, fields: Params | undefined): Promise<Body | undefined> {
  if (!fields) return undefined;
  if (route.kind === "upload") return formOf(fields);
  return { bytes: Buffer.from(JSON.stringify(fields)), headers: { "content-type": "application/json" } };
}

/** A file is sent as base64 beside the form's fields. */
async function formOf({ filename, mime_type, content, ...fields }: Params): Promise<Body> {
  const parsed = stdio.fileParams.safeParse({ filename, mime_type, content });
  if (!parsed.success) throw wrong(describeIssues(parsed.error.issues, { noun: "field", known: [] }));
  const file = parsed.data;
  if (file.content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(file.content)) {
    throw wrong("content: expected base64");
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, textOf(name, value));
  form.append("file", new Blob([Buffer.from(file.content, "base64")], { type: file.mime_type }), file.filename);
  const encoded = new Response(form);
  return {
    bytes: Buffer.from(await encoded.arrayBuffer()),
    headers: { "content-type": encoded.headers.get("content-type")! },
  };
}

function pathSegment(name: string, value: unknown): string {
  if (value === undefined) throw wrong(`${name}: is missing`);
  if (typeof value !== "string" || value === "") throw wrong(`${name}: expected a string that is not empty`);
  // A segment of one or two dots would be resolved as a relative path.
  if (/^\.{1,2}$/.test(value)) throw new RequestError("not_found", `There is no such ${name.replace(/_id$/, "")}.`);
  return encodeURIComponent(value.toWellFormed());
}

function addQuery(search: URLSearchParams, name: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) search.append(`${name}[]`, textOf(name, item));
  else search.append(name, textOf(name, value));
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw wrong(`${name}: expected a text, a number, true or false`);
}

const wrong = (message: string): RequestError => new RequestError("invalid_request", `${message.replace(/\.$/, "")}.`);
