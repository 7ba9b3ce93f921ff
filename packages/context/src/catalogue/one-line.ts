/** A field is one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
