import { TandemError } from "@tandem/protocol";

const UTF16 = { "254,255": "utf-16be", "255,254": "utf-16le" } as const;

/**
 * Decodes UTF-8, UTF-16 with a BOM, or the declared encoding. Invalid bytes are rejected, not replaced: damaged text
 * would become knowledge.
 */
export function decodeText(bytes: Uint8Array, path: string, declared?: string): string {
  const mark = UTF16[`${bytes[0]},${bytes[1]}` as keyof typeof UTF16];
  let text: string;
  try {
    // The decoder skips a BOM.
    text = new TextDecoder(mark ?? declared ?? "utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TandemError("not_text", `${path} is not valid ${(mark ?? declared ?? "UTF-8").toUpperCase()}.`, {
      fix: "Save it as UTF-8, or leave it out with `exclude`.",
      cause,
    });
  }
  if (text.includes("\0")) {
    throw new TandemError("not_text", `${path} holds binary data though its name says text.`, {
      fix: "Leave it out with `exclude`.",
    });
  }
  return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}
