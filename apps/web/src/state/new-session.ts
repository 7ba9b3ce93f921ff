import { StoredValue } from "../live/stored-value.ts";
import { LiveValue } from "../live/live-value.ts";

/** Whether the new-session dialog is open. The session list, a shortcut and the palette open it. */
export const isNewSessionOpen = new LiveValue(false);

/** The prompt draft survives closing the dialog and reloading the page. */
export const startDraft = new StoredValue("tandem.start.prompt", "");

let typed = "";

export function openNewSession(): void {
  if (isNewSessionOpen.current) return;
  typed = "";
  addEventListener("keydown", keep, { capture: true });
  isNewSessionOpen.set(true);
}

/** Returns and clears the keys typed before the dialog's chunk was loaded. */
export function takeTyped(): string {
  removeEventListener("keydown", keep, { capture: true });
  const text = typed;
  typed = "";
  return text;
}

function keep(event: KeyboardEvent): void {
  if (!isNewSessionOpen.current) return void takeTyped();
  if (event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.key.length === 1) typed += event.key;
  else if (event.key === "Backspace") typed = typed.slice(0, -1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
