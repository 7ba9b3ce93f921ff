import { type Document, parseDocument } from "yaml";
import { SourcePatch, YAML_LAYOUT } from "./source-patch.ts";

/**
 * Edits YAML that people edit too. Only the lines that the edit concerns change; layout, quotes, comments, anchors and
 * line ends of all others stay byte for byte. If the source is laid out so that this is impossible, the `yaml` package
 * rewrites the whole file, which keeps comments but not spacing. In both cases the result is parsed and compared with
 * the edited document before it is returned.
 */
export function editYaml(source: string, edit: (document: Document) => void): string {
  const document = parseDocument(source);
  const patch = new SourcePatch(source, document);
  edit(document);
  const wanted = JSON.stringify(document.toJS());
  const patched = patch.apply(document);
  if (patched === source || isReadAs(patched, wanted)) return patched;
  const rewritten = document.toString(YAML_LAYOUT);
  if (!isReadAs(rewritten, wanted)) throw new Error("The edit cannot be written as YAML.");
  return source.includes("\r\n") ? rewritten.replaceAll("\n", "\r\n") : rewritten;
}

function isReadAs(text: string, wanted: string): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && JSON.stringify(document.toJS()) === wanted;
}
