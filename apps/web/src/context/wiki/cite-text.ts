/** A citation in the text of a page: `[^docs/metrics#active-customer]`. */
const CITATION = /\[\^([^\]\s]+)\]/g;
const FENCE = /^ {0,3}(```|~~~)/;

/**
 * A page's text with its citations as numbered links (`cite:…`), and those citations in the order of their numbers. What
 * stands in code is left alone. The first heading is not in it: it is the title.
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
