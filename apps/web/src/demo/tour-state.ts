import { StoredValue } from "../live/stored-value.ts";

/** The user's progress. Stored in localStorage, so the field names are fixed. */
export interface TourState {
  isOpen: boolean;
  /** Earlier events do not count, so that the tour can be restarted. ISO 8601. */
  since: string;
  /** The session whose diff was opened. */
  diffOf?: string;
  /** The session that asks the context. */
  asked?: string;
  hasSearched?: boolean;
}

export const tour = new StoredValue<TourState>("tandem.demo.tour", { isOpen: true, since: "" });

export const startTour = (): void => tour.set({ isOpen: true, since: new Date().toISOString() });

export const skipTour = (): void => tour.set({ ...tour.current, isOpen: false });
