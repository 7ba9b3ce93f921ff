/** A citation in a page: `[^docs/metrics#active-customer]`. */
const CITATION = /\[\^([^\]\s]+)\]/g;
const FENCE = /^ {0,3}(```|~~~)/;

/**
 * Replaces citations by numbered links (`cite:…`) and returns them in order. Code stays unchanged. The first heading is
 * dropped, because it is the title.
 */
export function citeText(body: string): { text: string; citations: string[] } {
  const citations: string[] = [];
  let isCode = false;
  let hasTitle = false;
  const lines = body.split("\n").flatMap((line) => {
    if (FENCE.test(line)) isCode = !isCode;
    if (isCode) return [line];
    if (!hasTitle && /^#[ \t]/.test(line)) {
      hasTitle = true;
      return [];
    }
    return [line.replaceAll(CITATION, (_, citation: string) => link(citation, citations))];
  });
  return { text: lines.join("\n").trim(), citations };
}

function link(citation: string, citations: string[]): string {
  if (!citations.includes(citation)) citations.push(citation);
  return `[${citations.indexOf(citation) + 1}](<cite:${citation}>)`;
}
