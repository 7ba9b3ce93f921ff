/** A bot as which sessions may push. */
export interface PushBot {
  /** The address of its repository; a `*` at the end fits every ending. */
  remote: string;
  /** Read for each push, so that a changed token takes effect without a restart. */
  token: () => Promise<string>;
  name: string;
  email: string;
  /** The address of GitHub's API; by default derived from `remote`. */
  api?: string;
}

export interface PushSettings {
  bots?: readonly PushBot[];
}
