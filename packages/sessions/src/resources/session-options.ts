import { SESSION_METADATA, type PermissionMode, type SessionEventBody } from "@tandem/protocol";
import type { HostSettings } from "../host/host-settings.ts";
import { checkModeOf, hostAccount } from "@tandem/policy";
import { checkTurnOptions, resolveModel, type ModelSettings } from "../process/turn-options.ts";

/** What clients ask a session to run on and how much it may do: checked when they ask, and not when it is too late. */
export class SessionOptions {
  readonly #settings: ModelSettings & Pick<HostSettings, "hostVariables">;

  constructor(settings: ModelSettings & Pick<HostSettings, "hostVariables">) {
    this.#settings = settings;
  }

  /** The metadata of a session, or changes of it, where null takes something away. */
  async metadata<V extends string | null>(metadata: Record<string, V>): Promise<Record<string, V>> {
    const given = Object.entries(metadata).filter((entry): entry is [string, V & string] => entry[1] !== null);
    const set = Object.fromEntries<string>(given);
    checkModeOf(set, hostAccount(this.#settings.hostVariables));
    const checked = await checkTurnOptions(set, this.#settings.models);
    return { ...metadata, ...checked } as Record<string, V>;
  }

  /** Of an event that begins a turn, the model by its id. */
  async message<E extends { type: string; tandem?: { model?: string } }>(event: E, place: string): Promise<E> {
    const model = event.type === "user.message" ? event.tandem?.model : undefined;
    if (model === undefined) return event;
    const id = resolveModel(model, await this.#settings.models(), `${place}.tandem.model`);
    return { ...event, tandem: { ...event.tandem, model: id } };
  }

  /** What the log is told where the mode is another. */
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
