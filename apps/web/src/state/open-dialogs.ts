import type { Message } from "@tandem/protocol";
import { LiveValue } from "../live/live-value.ts";

/** A dialog for one session. It can open over any page. */
export type SessionAction = { session: { id: string; title: string | null } } & (
  | { kind: "rename" | "archive" | "delete" }
  /** Without a message: the last turn, or for a fork the current state. */
  | { kind: "rewind" | "fork"; message?: string }
  | { kind: "resend"; message: Message }
);

export const sessionAction = new LiveValue<SessionAction | undefined>(undefined);

export const isShortcutsSheetOpen = new LiveValue(false);

export const isStopDialogOpen = new LiveValue(false);
