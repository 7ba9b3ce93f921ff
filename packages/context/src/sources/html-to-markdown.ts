import TurndownService from "turndown";
import { gfm } from "turndown-plugin-gfm";
import { decodeText } from "./decode-text.ts";

export interface HtmlPage {
  /** From the head; may be empty. */
  title: string;
  markdown: string;
  /** Text of the requested elements, by id. */
  parts: Readonly<Record<string, string>>;
}

const NOISE = new Set("head title script style noscript nav iframe svg template form button".split(" "));

// Deeper trees take minutes to convert, long before a stack overflow.
const DEEPEST = 2_000;

/** Converts HTML. Elements with an id in `take` are extracted as `parts`, those in `drop` are removed. */
export function htmlToMarkdown(
  html: string,
  { take = [], drop = [] }: { take?: readonly string[]; drop?: readonly string[] } = {},
): HtmlPage {
  if (isTooDeep(html)) throw new RangeError("The page is nested too deeply.");
  const parts: Record<string, string> = {};
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.use(gfm);
  // The types do not know all of these, for example svg.
  service.addRule("noise", { filter: (node) => NOISE.has(node.nodeName.toLowerCase()), replacement: () => "" });
  service.addRule("hidden", { filter: (node) => isHidden(node), replacement: () => "" });
  service.addRule("drop", { filter: (node) => drop.includes(idOf(node)), replacement: () => "" });
  service.addRule("take", {
    filter: (node) => take.includes(idOf(node)),
    replacement: (content, node) => {
      parts[idOf(node)] = content.trim();
      return "";
    },
  });
  // Keep the alt text; the URL is not needed and may be a megabyte of base64.
  service.addRule("image", { filter: "img", replacement: (_, node) => altOf(node) });
  return { title: titleOf(html), markdown: service.turndown(html), parts };
}

/** A declared encoding in the first kilobyte takes precedence over UTF-8. */
export function decodeHtml(bytes: Uint8Array, path: string): string {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1");
  const declared = /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  return decodeText(bytes, path, declared && isEncoding(declared) ? declared : undefined);
}

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== "";
  } catch {
    return false;
  }
}

const idOf = (node: unknown): string => attributeOf(node, "id");
const altOf = (node: unknown): string => attributeOf(node, "alt").replaceAll(/\s+/g, " ");

/** Invisible text is a place to hide prompt injections. */
const isHidden = (node: unknown): boolean =>
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributeOf(node, "style")) ||
  attributeOf(node, "aria-hidden") === "true";

function attributeOf(node: unknown, name: string): string {
  if (typeof node !== "object" || node === null || !("getAttribute" in node)) return "";
  return typeof node.getAttribute === "function" ? String(node.getAttribute(name) ?? "") : "";
}

function titleOf(html: string): string {
  const title = /<title[^>]*>([^<]{0,500})<\/title>/i.exec(html)?.[1] ?? "";
  return title
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

/** An upper bound, because unknown self-closing elements are counted too. */
function isTooDeep(html: string): boolean {
  const CLOSED = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|th|tr|dt|dd|option)$/i;
  let depth = 0;
  for (const [, slash, name] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    if (CLOSED.test(name!)) continue;
    depth += slash ? -1 : 1;
    if (depth > DEEPEST) return true;
    if (depth < 0) depth = 0;
  }
  return false;
}
