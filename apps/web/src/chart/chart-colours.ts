/** Tokens of the theme, so that a chart follows light and dark. */
export const COLOURS = ["accent", "good", "wait", "bad", "ink-faint", "ink-soft"] as const;
