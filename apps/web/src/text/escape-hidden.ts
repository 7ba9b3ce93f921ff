/** Bidirectional controls and invisible characters, which can make a command look like another one. */
const HIDDEN = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF]/g;

/** Replaces them by escapes: a user must approve the real command, not its appearance. */
export const escapeHidden = (text: string): string =>
  text.replaceAll(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
