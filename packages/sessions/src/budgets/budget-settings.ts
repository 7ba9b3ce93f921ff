import type { DefaultLimits } from "./quota-registry.ts";

export interface SpendingSettings {
  /** Defaults; limits that were set at runtime replace them. */
  limits: DefaultLimits;
  /** The project's name. The spending of all its sessions is summed up. */
  project: string;
  /** Names the payer for messages. */
  payer: () => Promise<string | null>;
}

export interface BudgetSettings {
  /** Without it, only the limits of the sessions themselves apply. */
  spending?: SpendingSettings;
}

export const unlimitedSpending = (project: string): SpendingSettings => ({
  limits: { turn: {}, session: {}, agent: {}, project: {}, day: {} },
  project,
  payer: async () => null,
});
