import { LiveValue } from "./live-value.ts";

/** Whether the page has been painted once: what takes long, and is not what one has come to read, is drawn after that. */
export const isDrawn = new LiveValue(false);

/** To be said when all that comes first is there, and not painted yet. */
export const whenPainted = (): number => requestAnimationFrame(() => setTimeout(() => isDrawn.set(true)));
