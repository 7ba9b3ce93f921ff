type Rewrite = (text: string) => string;

/** Rewrites every string of a JSON body or event stream. In a stream, split text is joined first. */
export function rewriteBody(body: string, rewrite: Rewrite): string {
  const json = tryParse(body);
  if (json !== undefined) return JSON.stringify(rewriteStrings(json, rewrite));
  return /^(event|data):/m.test(body) ? rewriteStream(body, rewrite) : rewrite(body);
}

export function rewriteStrings(value: unknown, rewrite: Rewrite): unknown {
  if (typeof value === "string") return rewrite(value);
  if (Array.isArray(value)) return value.map((item) => rewriteStrings(item, rewrite));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewriteStrings(item, rewrite)]));
}

/** Works on lines instead of parsed events, so that the rest of the stream stays as it was received. */
function rewriteStream(body: string, rewrite: Rewrite): string {
  const lines = body.split("\n").map((line) => {
    const payload = line.startsWith("data:") ? tryParse(line.slice("data:".length)) : undefined;
    return { line, payload };
  });
  const blocks = Map.groupBy(
    lines.flatMap(({ payload }) => findPiece(payload) ?? []),
    ({ block }) => block,
  );
  for (const pieces of blocks.values()) {
    const whole = pieces.map(({ holder, field }) => String(holder[field])).join("");
    const rewritten = rewriteWhole(whole, rewrite);
    if (rewritten === whole) continue;
    // The first piece gets the whole text, because the original cuts no longer apply.
    for (const [index, { holder, field }] of pieces.entries()) holder[field] = index === 0 ? rewritten : "";
  }
  return lines
    .map(({ line, payload }) =>
      payload === undefined ? rewrite(line) : `data: ${JSON.stringify(rewriteStrings(payload, rewrite))}`,
    )
    .join("\n");
}

interface Piece {
  readonly block: string;
  readonly holder: Record<string, unknown>;
  readonly field: string;
}

/** The delta of an event, in Anthropic's stream or the gateway's. */
function findPiece(payload: unknown): Piece | undefined {
  if (!isRecord(payload)) return undefined;
  const { delta } = payload;
  if (typeof delta === "string") return { block: String(payload["id"]), holder: payload, field: "delta" };
  if (!isRecord(delta)) return undefined;
  const field = ["text", "thinking", "partial_json"].find((name) => typeof delta[name] === "string");
  return field === undefined ? undefined : { block: String(payload["index"]), holder: delta, field };
}

/** A tool's input is JSON itself: rewrite its strings, not their escaped form. */
function rewriteWhole(whole: string, rewrite: Rewrite): string {
  const json = tryParse(whole);
  if (!isRecord(json)) return rewrite(whole);
  const rewritten = JSON.stringify(rewriteStrings(json, rewrite));
  return rewritten === JSON.stringify(json) ? whole : rewritten;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
