/** Permissions of a local MCP server. */
export type ServerConfinement =
  /** Runs outside: the owner's configuration says so. */
  | { type: "none" }
  | {
      type: "sandbox";
      /** Its access to the folder that it runs in. */
      folder: "read" | "write";
      /** `session`: the hosts that the session may use. A folder's server runs code that the agent can change. */
      hosts: "public" | "session" | readonly string[];
      mounts: readonly { path: string; write: boolean }[];
      /** Whether it sees the program and files that its command names, wherever they are. Not in tenants. */
      seesCommand: boolean;
    };
