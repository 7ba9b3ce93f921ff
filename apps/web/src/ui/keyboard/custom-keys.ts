import { KeptValue } from "../../live/kept-value.ts";

/** Other keys than the usual ones, by the words for what they do: the same thing goes by the same key wherever it is done. */
export const customKeys = new KeptValue<Readonly<Record<string, string>>>("tandem.keys", {});

export const setCustomKey = (label: string, key: string): void =>
  customKeys.change((all) => ({ ...all, [label]: key }));

export const resetCustomKey = (label: string): void =>
  customKeys.change((all) => Object.fromEntries(Object.entries(all).filter(([other]) => other !== label)));
