/** Settings pages in display order. The first is the default. */
export const SETTINGS_PAGES = [
  { name: "status", label: "Status" },
  { name: "agents", label: "Agents" },
  { name: "skills", label: "Skills" },
  { name: "schedules", label: "Schedules" },
  { name: "models", label: "Models" },
  { name: "environments", label: "Environments" },
  { name: "rules", label: "Rules" },
  { name: "sandbox", label: "Sandbox" },
  { name: "usage", label: "Usage" },
  { name: "budgets", label: "Budgets" },
  { name: "trust", label: "Trust" },
  { name: "credentials", label: "Credentials" },
  { name: "mcp", label: "MCP servers" },
  { name: "vaults", label: "Vaults" },
  { name: "webhooks", label: "Webhooks" },
  { name: "notifications", label: "Notifications" },
  { name: "tokens", label: "Tokens" },
  { name: "audit", label: "Audit" },
  { name: "fleet", label: "Fleet" },
  { name: "appearance", label: "Appearance" },
] as const;

/** Pages about the machine itself, for the operator only. */
const OPERATORS: ReadonlySet<string> = new Set(["status", "trust", "credentials", "fleet"]);

export const settingsPagesOf = ({ is_operator }: { is_operator: boolean }) =>
  SETTINGS_PAGES.filter(({ name }) => is_operator || !OPERATORS.has(name));

export type SettingsName = (typeof SETTINGS_PAGES)[number]["name"];
