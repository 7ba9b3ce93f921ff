import { Tokenizer, type Tokens } from "marked";

/**
 * Says at a glance that a rule does not apply. To try one means to compile a pattern of up to 1,400 signs first, and all of
 * them are tried on every block: that is most of what the first words of a page take.
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

  /** Below the head of a table, and below a heading that is underlined, is a line of nothing else than such signs. */
  override table(source: string): Tokens.Table | undefined {
    return hasRuler(source) ? super.table(source) : undefined;
  }

  override lheading(source: string): Tokens.Heading | undefined {
    return hasRuler(source) ? super.lheading(source) : undefined;
  }

  /** Nothing that ends a paragraph begins with a letter; but for the blank line, which is found here. */
  override paragraph(source: string): Tokens.Paragraph | undefined {
    const plain = /^\p{L}[^\n]*(?:\n\p{L}[^\n]*)*(?=\n[ \t]*\n|\n?$)/u.exec(source)?.[0];
    if (plain === undefined) return super.paragraph(source);
    return { type: "paragraph", raw: plain, text: plain, tokens: this.lexer.inline(plain) };
  }
}

const hasRuler = (source: string): boolean => /\n {0,3}[-:=|][-:=| \t]*(?:\n|$)/.test(source);
