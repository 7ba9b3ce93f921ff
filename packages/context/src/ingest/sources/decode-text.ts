import { TandemError } from "@tandem/protocol";

const UTF16 = { "254,255": "utf-16be", "255,254": "utf-16le" } as const;

/**
 * Text as the file means it: UTF-8, UTF-16 where it begins with its mark, or what the caller knows it to be. Bytes that do
 * not fit are never guessed at: words with holes in them would end up as knowledge.
 */
export function decodeText(bytes: Uint8Array, path: string, declared?: string): string {
  const mark = UTF16[`${bytes[0]},${bytes[1]}` as keyof typeof UTF16];
  let text: string;
  try {
    // Reads over the mark at the beginning, if there is one.
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
