import type { EventId, EventOf, ThreadId } from "@tandem/protocol";
import type { Judge, ToolNames } from "./calls.ts";

export interface TranslatorSettings {
  newEventId: () => EventId;
  threadIdOf: (toolUseId: string) => ThreadId;
  primaryThread: ThreadId;
  judge: Judge;
  /** Whether a call was handed to a worker of a self-hosted environment. */
  isHandedOver?: (toolUseId: string) => boolean;
  names: ToolNames;
  /** Whether every turn must return an object. */
  outputExpected: boolean;
  /** Whether requests cost nothing. */
  isFree?: boolean;
  /** Facts about the process that its own messages do not contain. */
  facts?: Pick<EventOf<"tandem.init">, "sandbox" | "skills">;
}
