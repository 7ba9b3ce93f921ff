/** The text of a Markdown line, for one-line previews. */
export const plainLine = (line: string): string =>
  line
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+\.)\s+/, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replaceAll(/`([^`]+)`/g, "$1");
