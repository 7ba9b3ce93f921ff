import { KeptValue } from "../live/kept-value.ts";

/** Other keys than the usual ones, by the words for what they do: the same thing goes by the same key wherever it is done. */
export const chosenKeys = new KeptValue<Readonly<Record<string, string>>>("tandem.keys", {});

export const chooseKey = (label: string, key: string): void => chosenKeys.change((all) => ({ ...all, [label]: key }));

export const forgetKey = (label: string): void =>
  chosenKeys.change((all) => Object.fromEntries(Object.entries(all).filter(([other]) => other !== label)));
