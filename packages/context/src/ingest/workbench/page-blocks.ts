import { citationsIn } from "../../wiki/check-page.ts";

/** A Markdown block: a paragraph, list, table, heading or code. */
export interface Block {
  /** Lines in the body, from 1, inclusive. */
  from: number;
  to: number;
  text: string;
  /** Whether it makes a statement that needs support. */
  states: boolean;
  citations: string[];
}

export function blocksOf(body: string): Block[] {
  const lines = body.split("\n");
  const blocks: Block[] = [];
  let fence: string | undefined;
  let start: number | undefined;
  const end = (to: number, isCode = false) => {
    if (start === undefined) return;
    const text = lines.slice(start, to).join("\n");
    const states = !isCode && !/^(#{1,6} .*|([-*_] ?){3,}|<!--[\s\S]*-->)\s*$/.test(text);
    const citations = [...new Set(citationsIn(text).map(({ citation }) => citation))];
    blocks.push({ from: start + 1, to, text, states, citations });
    start = undefined;
  };
  lines.forEach((line, index) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) {
        end(index + 1, true);
        fence = undefined;
      }
    } else if (mark !== undefined) {
      end(index);
      [fence, start] = [mark, index];
    } else if (line.trim() === "") end(index);
    else if (/^#{1,6} /.test(line)) {
      end(index);
      start = index;
      end(index + 1);
    } else start ??= index;
  });
  end(lines.length, fence !== undefined);
  return blocks;
}

/** New blocks that make a statement without a citation. */
export function uncitedBlocks(body: string, before: string | undefined): Block[] {
  const known = new Set(before === undefined ? [] : blocksOf(before).map(({ text }) => text.trim()));
  return blocksOf(body).filter(
    ({ states, citations, text }) => states && citations.length === 0 && !known.has(text.trim()),
  );
}
