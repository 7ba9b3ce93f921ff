import type { Token, Tokens } from "marked";
import { createContext, Fragment, memo, type ReactNode, use, useState } from "react";
import { Code } from "./code.tsx";
import { LiveBlocks } from "./live-blocks.ts";

/** Rendering options of a full page, with page headings and internal links. */
export interface MarkdownOptions {
  /** The level of the largest heading. Without it, headings are plain text for the page outline. */
  heading?: number;
  /** Renders a link that is not a web address; undefined keeps only its text. */
  link?: (href: string, children: ReactNode) => ReactNode | undefined;
}
export const MarkdownOptionsContext = createContext<MarkdownOptions>({});

/**
 * Renders Markdown with our own elements. HTML is shown as text, so agent output cannot run anything. While a text
 * streams, finished blocks are not rendered again.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const [live] = useState(() => new LiveBlocks());
  const blocks = live.read(text);
  return (
    <div className="space-y-2.5 wrap-anywhere">
      {blocks.map((token, index) => (
        <Block key={index} raw={token.raw} token={token} />
      ))}
    </div>
  );
});

const Block = memo(
  function Block({ token }: { token: Token; raw: string }): ReactNode {
    switch (token.type) {
      case "space":
      case "def":
        return null;
      case "heading": {
        const { depth, tokens } = token as Tokens.Heading;
        return <Heading depth={depth}>{inline(tokens)}</Heading>;
      }
      case "code": {
        const { text, lang } = token as Tokens.Code;
        return <Code text={text} language={lang?.split(/\s/, 1)[0]} />;
      }
      case "blockquote":
        return (
          <blockquote className="border-l-2 border-line-strong pl-3 text-ink-soft">
            {(token as Tokens.Blockquote).tokens.map((inner, index) => (
              <Block key={index} raw={inner.raw} token={inner} />
            ))}
          </blockquote>
        );
      case "list": {
        const { ordered, start, items } = token as Tokens.List;
        const List = ordered ? "ol" : "ul";
        return (
          <List
            {...(ordered && typeof start === "number" && start !== 1 && { start })}
            className={`space-y-1 pl-5 ${ordered ? "list-decimal" : "list-disc"} marker:text-ink-faint`}
          >
            {items.map((item, index) => (
              <li key={index} className={item.task ? "-ml-5 flex list-none items-baseline gap-2" : ""}>
                {item.task && (
                  <input
                    type="checkbox"
                    checked={item.checked ?? false}
                    readOnly
                    disabled
                    aria-label="Done"
                    className="translate-y-0.5"
                  />
                )}
                <ItemContent tokens={item.tokens} isTask={item.task} />
              </li>
            ))}
          </List>
        );
      }
      case "table": {
        const { header, rows, align } = token as Tokens.Table;
        const side = (column: number) => ({ textAlign: align[column] ?? "left" }) as const;
        return (
          <figure className="overflow-x-auto" aria-label="Table" tabIndex={0}>
            <table className="border-collapse text-sm wrap-break-word">
              <thead>
                <tr>
                  {header.map((cell, column) => (
                    <th key={column} style={side(column)} className="border-b border-line-strong px-2 py-1 font-medium">
                      {inline(cell.tokens)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, index) => (
                  <tr key={index}>
                    {row.map((cell, column) => (
                      <td key={column} style={side(column)} className="border-b border-line px-2 py-1 align-top">
                        {inline(cell.tokens)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </figure>
        );
      }
      case "hr":
        return <hr className="border-line" />;
      case "paragraph":
        return <p>{inline(itemTokens((token as Tokens.Paragraph).tokens))}</p>;
      default:
        return <p className="whitespace-pre-wrap">{token.raw}</p>;
    }
  },
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

/** Headings of an answer are not part of the page outline. */
const HEADING_SIZES = ["text-[1.125rem] font-semibold", "text-[1rem] font-semibold"];

function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  const { heading } = use(MarkdownOptionsContext);
  const size = HEADING_SIZES[depth - 1] ?? "font-semibold";
  if (heading === undefined) return <p className={size}>{children}</p>;
  const Tag = `h${Math.min(6, heading + depth - 1)}` as "h2";
  return <Tag className={`pt-2 ${size}`}>{children}</Tag>;
}

function InternalLink({ href, children }: { href: string; children: ReactNode }) {
  return use(MarkdownOptionsContext).link?.(href, children) ?? children;
}

/** The content of a list item. The checkbox of a task is rendered already. */
function ItemContent({ tokens, isTask }: { tokens: readonly Token[]; isTask: boolean }): ReactNode {
  const words = tokens.filter(({ type }) => type !== "checkbox");
  const content = words.map((token, place) =>
    token.type === "text" ? (
      <Fragment key={place}>{inline(itemTokens((token as Tokens.Text).tokens ?? [token]))}</Fragment>
    ) : (
      <Block key={place} raw={token.raw} token={token} />
    ),
  );
  return isTask ? <div className="min-w-0">{content}</div> : content;
}

const itemTokens = (tokens: readonly Token[]): Token[] => tokens.filter(({ type }) => type !== "checkbox");

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Fragment key={index}>{span(token)}</Fragment>);
}

function span(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong className="font-semibold">{inline((token as Tokens.Strong).tokens)}</strong>;
    case "em":
      return <em>{inline((token as Tokens.Em).tokens)}</em>;
    case "del":
      return <del>{inline((token as Tokens.Del).tokens)}</del>;
    case "codespan":
      return (
        <code className="rounded bg-raised px-1 py-px font-mono text-[0.85em]">{(token as Tokens.Codespan).text}</code>
      );
    case "br":
      return <br />;
    case "link": {
      const { href, tokens } = token as Tokens.Link;
      if (!/^(https?:|mailto:)/i.test(href)) return <InternalLink href={href}>{inline(tokens)}</InternalLink>;
      return (
        <a href={href} target="_blank" rel="noreferrer noopener" className="text-accent underline underline-offset-2">
          {inline(tokens)}
        </a>
      );
    }
    // Loading an external image would reveal the reader to its server.
    case "image":
      return <span className="text-ink-faint">[{(token as Tokens.Image).text || "image"}]</span>;
    case "text":
    case "escape":
      return (token as Tokens.Text).tokens
        ? inline((token as Tokens.Text).tokens)
        : decoded((token as Tokens.Text).text);
    default:
      return token.raw;
  }
}

const SIGNS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Decodes the entities for characters that HTML reserves. */
const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,6})|(\w+));/g, (all, number: string | undefined, name: string | undefined) =>
    number === undefined ? (SIGNS[name ?? ""] ?? all) : String.fromCodePoint(Number(number)),
  );
