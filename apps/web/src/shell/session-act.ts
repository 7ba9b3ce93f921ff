import { LiveValue } from "../live/live-value.ts";

/** What is about to be done with a session, in a dialog over whatever page is open. */
export interface SessionAct {
  kind: "rename" | "archive" | "delete";
  session: { id: string; title: string | null };
}

export const sessionAct = new LiveValue<SessionAct | undefined>(undefined);
