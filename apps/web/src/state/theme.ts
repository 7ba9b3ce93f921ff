import { LiveValue } from "../live/live-value.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "tandem.theme";
const stored = localStorage.getItem(KEY);

/** Follows the system unless the user chose a theme. */
export const theme = new LiveValue<Theme>(THEMES.find((name) => name === stored) ?? "system");

export function setTheme(name: Theme): void {
  theme.set(name);
  localStorage.setItem(KEY, name);
  show(name);
}

function show(name: Theme): void {
  if (name === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = name;
}

show(theme.current);
