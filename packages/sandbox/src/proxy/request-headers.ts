/** Headers of one connection, which a proxy must not pass on. `expect` was answered by this side. */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-.*|te|trailers?|transfer-encoding|upgrade|http2-settings|expect)$/;

export type HeaderPair = readonly [name: string, value: string];

/** Pairs as the client sent them, with lower-case names. Node's `headers` would join or drop duplicates. */
export const headerPairs = (raw: readonly string[]): HeaderPair[] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!.toLowerCase(), raw[2 * index + 1]!]);

export const valuesOf = (pairs: readonly HeaderPair[], name: string): string[] =>
  pairs.filter(([other]) => other === name).map(([, value]) => value);

/**
 * Drops hop-by-hop headers, including those that `Connection` names. It must not name the length: without it, a body would be sent
 * unframed, and the host would read it as another request, whose host and method are unchecked.
 */
export function endToEnd(pairs: readonly HeaderPair[]): HeaderPair[] {
  const named = new Set(valuesOf(pairs, "connection").flatMap((value) => value.toLowerCase().split(/[\s,]+/)));
  named.delete("content-length");
  return pairs.filter(([name]) => !HOP_BY_HOP.test(name) && !named.has(name));
}

/**
 * Why two parsers could see different messages, if they could. Node's parser refuses most of these. This must hold even if it is
 * started with lenient flags.
 */
export function framingProblem(pairs: readonly HeaderPair[]): string | undefined {
  const lengths = valuesOf(pairs, "content-length");
  const encodings = valuesOf(pairs, "transfer-encoding");
  if (lengths.length > 1 || lengths.some((value) => !/^\d{1,15}$/.test(value))) return "Content-Length is ambiguous.";
  if (encodings.length > 1 || encodings.some((value) => value.toLowerCase() !== "chunked")) {
    return "Transfer-Encoding is ambiguous.";
  }
  if (lengths.length > 0 && encodings.length > 0) return "Content-Length and Transfer-Encoding exclude each other.";
  // Python's CONNECT has none.
  if (valuesOf(pairs, "host").length > 1) return "A request has one Host header.";
  // oxlint-disable-next-line no-control-regex -- these characters are the attack
  if (pairs.some((pair) => pair.some((text) => /[\0\r\n]/.test(text)))) return "A header contains a control character.";
  return undefined;
}
