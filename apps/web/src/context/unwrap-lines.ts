/** Joins hard-wrapped lines into paragraphs. Lists, tables, quotes and code keep their lines. */
export const unwrapLines = (text: string): string => text.trim().replaceAll(/(?<=\S)[ \t]*\n(?=[^\s\-*+>|#`\d])/g, " ");
