import type { PERMISSION_MODES } from "@tandem/protocol";

type PermissionMode = (typeof PERMISSION_MODES)[number];

export const MODE_LABELS: Readonly<Record<PermissionMode, string>> = {
  default: "Ask",
  acceptEdits: "Accept edits",
  plan: "Plan",
  dontAsk: "Don’t ask",
  bypassPermissions: "Bypass permissions",
};

/** Select options of all modes. The one without approvals is red. */
export const modeOptions = (
  modes: readonly PermissionMode[],
): { value: PermissionMode; label: string; isBad: boolean }[] =>
  modes.map((value) => ({ value, label: MODE_LABELS[value], isBad: value === "bypassPermissions" }));

/** "xhigh" is the wire name. */
export const effortLabel = (effort: string): string => (effort === "xhigh" ? "Extra high" : capitalised(effort));

export const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
