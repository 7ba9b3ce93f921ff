import { LiveValue } from "../live/live-value.ts";

/** Whether somebody is about to start a session: from the board, by a key, or from the palette. */
export const isNewSessionOpen = new LiveValue(false);
export const openNewSession = (): void => isNewSessionOpen.set(true);
