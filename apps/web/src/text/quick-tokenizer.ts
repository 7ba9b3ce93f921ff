import { Tokenizer, type Tokens } from "marked";

/**
 * Skips rules that cannot match. Otherwise every rule compiles a pattern of up to 1,400 characters and tries it on
 * every block, which dominates the time of the first render.
 */
export class QuickTokenizer extends Tokenizer {
  override html(source: string): Tokens.HTML | undefined {
    return /^ {0,3}</.test(source) ? super.html(source) : undefined;
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return /^ {0,3}>/.test(source) ? super.blockquote(source) : undefined;
  }

  override def(source: string): Tokens.Def | undefined {
    return /^ {0,3}\[/.test(source) ? super.def(source) : undefined;
  }

  /** Tables and underlined headings need a second line of only these characters. */
  override table(source: string): Tokens.Table | undefined {
    return hasUnderline(source) ? super.table(source) : undefined;
  }

  override lheading(source: string): Tokens.Heading | undefined {
    return hasUnderline(source) ? super.lheading(source) : undefined;
  }

  /** No other block starts with a letter, so a paragraph ends at a blank line. */
  override paragraph(source: string): Tokens.Paragraph | undefined {
    const plain = /^\p{L}[^\n]*(?:\n\p{L}[^\n]*)*(?=\n[ \t]*\n|\n?$)/u.exec(source)?.[0];
    if (plain === undefined) return super.paragraph(source);
    return { type: "paragraph", raw: plain, text: plain, tokens: this.lexer.inline(plain) };
  }
}

const hasUnderline = (source: string): boolean => /\n {0,3}[-:=|][-:=| \t]*(?:\n|$)/.test(source);
