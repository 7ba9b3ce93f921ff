import type { Config } from "@tandem/protocol";

/** A bot as which sessions may push. */
export type PushBot = Omit<Config["bots"][number], "token"> & {
  /** Read for each push, so that a changed token takes effect without a restart. */
  token: () => Promise<string>;
};

export interface PushSettings {
  bots?: readonly PushBot[];
}
