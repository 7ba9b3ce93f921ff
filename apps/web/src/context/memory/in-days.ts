const DAY_MS = 86_400_000;

/** The time so many days from now. */
export const inDays = (days: number, now = Date.now()): string => new Date(now + days * DAY_MS).toISOString();
