import type { PERMISSION_MODES } from "@tandem/protocol";

export const MODE_LABELS: Readonly<Record<(typeof PERMISSION_MODES)[number], string>> = {
  default: "Asks first",
  acceptEdits: "May edit files",
  plan: "Plans only",
  bypassPermissions: "May do all",
};

export const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
