import { LiveValue } from "./live-value.ts";

/** Whether the page was painted once. Expensive parts that the user does not read first are rendered after that. */
export const isPainted = new LiveValue(false);

/** To be called when the first content is rendered but not yet painted. */
export const whenPainted = (): number => requestAnimationFrame(() => setTimeout(() => isPainted.set(true)));
