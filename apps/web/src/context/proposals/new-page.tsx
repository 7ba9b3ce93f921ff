import { type ReactNode, useMemo } from "react";
import { Markdown, MarkdownOptionsContext } from "../../text/markdown.tsx";
import { citeText } from "../wiki/cite-text.ts";

const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/;

/** Citations and links of a page that does not exist yet are shown as text. */
const OPTIONS = {
  link: (href: string, words: ReactNode) =>
    href.startsWith("cite:") ? (
      <sup title={href.slice(5)} className="mx-px rounded bg-accent-soft px-1 text-[0.6875rem] text-accent">
        {words}
      </sup>
    ) : (
      words
    ),
};

/** A proposed page as it would look, with its metadata folded. */
export function NewPage({ text }: { text: string }) {
  const { metadata, title, body } = useMemo(() => {
    const [whole = "", yaml = ""] = FRONT_MATTER.exec(text) ?? [];
    const rest = text.slice(whole.length);
    return { metadata: yaml, title: /^#[ \t]+(.+)$/m.exec(rest)?.[1], body: citeText(rest).text };
  }, [text]);
  return (
    <div className="px-4 py-3">
      {title !== undefined && <p className="mb-2 text-lg font-semibold">{title}</p>}
      <MarkdownOptionsContext value={OPTIONS}>
        <Markdown text={body} />
      </MarkdownOptionsContext>
      {metadata !== "" && (
        <details className="mt-3 text-sm text-ink-soft">
          <summary className="cursor-pointer rounded">Metadata</summary>
          <pre tabIndex={0} className="mt-1 max-h-60 overflow-auto rounded-md bg-raised p-2 font-mono text-xs">
            {metadata}
          </pre>
        </details>
      )}
    </div>
  );
}
