import { SESSION_METADATA, type PermissionMode, type SessionEventBody } from "@tandem/protocol";
import type { HostSettings } from "../host/host-settings.ts";
import { checkModeOf, hostAccount } from "@tandem/policy";
import { checkTurnOptions, resolveModel, type ModelSettings } from "../process/turn-options.ts";

/** Validates the model, effort, mode and limits that clients request, at the time of the request. */
export class SessionOptions {
  readonly #settings: ModelSettings & Pick<HostSettings, "hostVariables">;

  constructor(settings: ModelSettings & Pick<HostSettings, "hostVariables">) {
    this.#settings = settings;
  }

  /** A session's metadata, or changes to it, where null removes a key. */
  async metadata<V extends string | null>(metadata: Record<string, V>): Promise<Record<string, V>> {
    const given = Object.entries(metadata).filter((entry): entry is [string, V & string] => entry[1] !== null);
    const set = Object.fromEntries<string>(given);
    checkModeOf(set, hostAccount(this.#settings.hostVariables));
    const checked = await checkTurnOptions(set, this.#settings.models);
    return { ...metadata, ...checked } as Record<string, V>;
  }

  /** Resolves the model of an event that starts a turn. */
  async message<E extends { type: string; tandem?: object }>(event: E, place: string): Promise<E> {
    const { tandem } = event;
    const model = tandem && "model" in tandem ? tandem.model : undefined;
    if (typeof model !== "string") return event;
    const id = resolveModel(model, await this.#settings.models(), `${place}.tandem.model`);
    return { ...event, tandem: { ...event.tandem, model: id } };
  }

  /** The event for a changed mode. */
  modeEvents(
    before: Record<string, string>,
    after: Record<string, string> | undefined,
    by = "unknown",
  ): SessionEventBody[] {
    const key = SESSION_METADATA.permissionMode;
    if (!after || before[key] === after[key]) return [];
    const mode = (after[key] as PermissionMode | undefined) ?? this.#settings.permissionMode ?? "default";
    return [{ type: "tandem.mode", mode, by }];
  }
}
