import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk/unstable";
import type { SessionSettings } from "./session-settings.ts";

export const modeState = ({ mode }: SessionSettings): SessionModeState => ({
  currentModeId: mode.current,
  availableModes: mode.options,
});

export const configOptions = ({ mode, model, effort }: SessionSettings): SessionConfigOption[] => [
  select("mode", "Mode", "mode", mode),
  select("model", "Model", "model", model),
  select("effort", "Effort", "thought_level", effort),
];

const select = (
  id: string,
  name: string,
  category: string,
  { current, options }: SessionSettings["mode"],
): SessionConfigOption => ({
  type: "select",
  id,
  name,
  category,
  currentValue: current,
  options: options.map(({ id: value, name: label, description }) => ({
    value,
    name: label,
    ...(description !== undefined && { description }),
  })),
});
