import { parseDocument, type Document } from "yaml";
import { diffLines } from "./lines/diff-lines.ts";
import { fromLines, toLines } from "./lines/lines.ts";
import { mergeEdits } from "./lines/merge-edits.ts";

/** One field, one line: nothing is folded, so that a line of a diff is a field. */
const LAYOUT = { lineWidth: 0, flowCollectionPadding: false } as const;

/**
 * Changes YAML that people edit too. Lines that the change does not concern stay as they are, to the character: layout,
 * quotes, comments, Windows' line ends.
 */
export function editYaml(text: string, edit: (document: Document) => void): string {
  const crlf = text.includes("\r\n");
  const source = crlf ? text.replaceAll("\r\n", "\n") : text;
  // The same text in the library's own layout, before and after: what differs is the change, and goes into the source.
  const document = parseDocument(source);
  if (source.trim() === "") {
    edit(document);
    return document.toString(LAYOUT);
  }
  const plain = document.toString(LAYOUT);
  edit(document);
  const changed = document.toString(LAYOUT);
  if (changed === plain) return text;
  // As we write it ourselves: there is nothing to put side by side.
  if (source === plain) return crlf ? changed.replaceAll("\n", "\r\n") : changed;
  const [before, after] = [toLines(plain), toLines(changed)];
  const merged = mergeEdits(before, toLines(source), diffLines(before, after));
  // Where the change concerns lines of an unusual layout, the whole file takes the usual one; its comments stay.
  const edited = fromLines(merged.outcomes.includes("conflict") ? after : merged.lines);
  const result = meansTheSame(edited, document) ? edited : fromLines(after);
  return crlf ? result.replaceAll("\n", "\r\n") : result;
}

/** Lines that were put side by side are checked: they must say what the document does. */
function meansTheSame(text: string, document: Document): boolean {
  const read = parseDocument(text);
  return read.errors.length === 0 && JSON.stringify(read.toJS()) === JSON.stringify(document.toJS());
}
