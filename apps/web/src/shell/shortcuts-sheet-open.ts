import { LiveValue } from "../live/live-value.ts";

export const isSheetOpen = new LiveValue(false);
