import { LiveValue } from "../live/live-value.ts";

/** A confirmation or rename dialog for one session. It can open over any page. */
export interface SessionAction {
  kind: "rename" | "archive" | "delete";
  session: { id: string; title: string | null };
}

export const sessionAction = new LiveValue<SessionAction | undefined>(undefined);

export const isShortcutsSheetOpen = new LiveValue(false);

export const isStopDialogOpen = new LiveValue(false);
