/** Text that was broken into lines to fit a width, as paragraphs again; lists, tables, quotes and code keep their lines. */
export const unwrapLines = (text: string): string => text.trim().replaceAll(/(?<=\S)[ \t]*\n(?=[^\s\-*+>|#`\d])/g, " ");
