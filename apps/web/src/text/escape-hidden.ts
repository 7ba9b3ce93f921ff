/** Signs that turn the order of what stands after them, or take no room at all: the marks of a command that reads as another one. */
const HIDDEN = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF]/g;

/** Names what cannot be seen, in its place: who allows a command allows what it is, and not what it looks like. */
export const escapeHidden = (text: string): string =>
  text.replaceAll(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
