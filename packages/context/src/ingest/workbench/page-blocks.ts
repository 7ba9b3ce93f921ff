import { citationsIn } from "../../wiki/check-page.ts";

/** Lines of Markdown that stand together: a paragraph, a list, a table, a heading, a piece of code. */
export interface Block {
  /** In the body, from 1, both included. */
  from: number;
  to: number;
  text: string;
  /** Whether it says something that has to rest on something. */
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

/** Blocks of a new text that say something, rest on nothing, and did not stand in the old one. */
export function uncitedBlocks(body: string, before: string | undefined): Block[] {
  const known = new Set(before === undefined ? [] : blocksOf(before).map(({ text }) => text.trim()));
  return blocksOf(body).filter(
    ({ states, citations, text }) => states && citations.length === 0 && !known.has(text.trim()),
  );
}
