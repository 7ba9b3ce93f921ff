import type { ModelRequest } from "../received-request.ts";
import { redactShapes } from "./recording-redactor.ts";
import { rewriteStrings } from "./rewrite-body.ts";

/** A request without volatile parts, for comparing live and recorded ones. */
export interface NormalRequest {
  readonly dialect: string;
  readonly model: string;
  readonly body: unknown;
}

/** Order matters: longer and more specific patterns first. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/<system-reminder>[\s\S]*?<\/system-reminder>\n?/g, ""],
  [/^x-anthropic-billing-header:.*$/gm, ""],
  [/^# Environment\n[\s\S]*$/g, ""],
  [/<env>[\s\S]*?<\/env>/g, ""],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>"],
  [/\b(toolu|msg|req|srvtoolu|call|gen)_\w{8,}\b/g, "<id>"],
  [/\b[0-9a-f]{32,}\b/gi, "<hex>"],
  [/\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g, "<date>"],
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d{1,2},? \d{4}\b/g,
    "<date>",
  ],
  [/\b\d{1,2}:\d{2}:\d{2}\b/g, "<time>"],
  [/\b1\d{12}\b/g, "<time>"],
  [/(?:\/private)?\/(?:tmp|var\/folders\/\w+\/\w+\/T)\/[^\s/"'`:]+/g, "<tmp>"],
  [/\/(?:home|Users)\/[^\s/"'`:]+/g, "<home>"],
];

const known = new WeakMap<ModelRequest, NormalRequest>();

export function normalRequest(request: ModelRequest): NormalRequest {
  const form = known.get(request) ?? computeNormalForm(request);
  known.set(request, form);
  return form;
}

function computeNormalForm(request: ModelRequest): NormalRequest {
  const cwd = workingFolder(request.body);
  const normalise = (text: string) => {
    const placed = cwd === undefined ? text : text.replaceAll(cwd, "<cwd>");
    return varying.reduce((clean, [pattern, name]) => clean.replaceAll(pattern, name), redactShapes(placed)).trim();
  };
  return { dialect: request.dialect, model: request.model, body: tidy(rewriteStrings(request.body, normalise)) };
}

/** Claude Code's working folder, as stated in the request. */
export function workingFolder(body: unknown): string | undefined {
  return /(?:[Ww]orking directory: |<cwd>)([^\n<\\"]+)/.exec(JSON.stringify(body ?? null))?.[1]?.trim();
}

/** Drops the caller's identity and empty parts, and sorts tools. */
function tidy(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { metadata: _identity, ...rest } = body as Record<string, unknown>;
  const tools = rest["tools"];
  if (Array.isArray(tools)) rest["tools"] = tools.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  return withoutEmptyText(rest);
}

function withoutEmptyText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyText).filter((item) => !isEmptyText(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutEmptyText(item)]));
}

/** A text block without text, or a message without content. */
function isEmptyText(item: unknown): boolean {
  if (typeof item !== "object" || item === null) return false;
  if ("type" in item && item.type === "text" && "text" in item) return item.text === "";
  return "role" in item && "content" in item && (item.content === "" || isEmptyList(item.content));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function nameOf(tool: unknown): string {
  return typeof tool === "object" && tool !== null && "name" in tool ? String(tool.name) : "";
}
