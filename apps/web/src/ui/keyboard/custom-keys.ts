import { KeptValue } from "../../live/kept-value.ts";

/** Custom keys by action label. Actions with the same label share a key on all pages. */
export const customKeys = new KeptValue<Readonly<Record<string, string>>>("tandem.keys", {});

export const setCustomKey = (label: string, key: string): void =>
  customKeys.change((all) => ({ ...all, [label]: key }));

export const resetCustomKey = (label: string): void =>
  customKeys.change((all) => Object.fromEntries(Object.entries(all).filter(([other]) => other !== label)));
