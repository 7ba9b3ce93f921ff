import type { Part } from "@tandem/protocol";

/** The texts of a message, without its other parts. */
export const messageText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
