/** A language server that the configuration names. */
export interface ConfiguredServer {
  name: string;
  /** The program, by its absolute path or by a name in `node_modules/.bin` or PATH, and its arguments. */
  command: readonly string[];
  /** With the dot, such as `.rs`. */
  extensions: readonly string[];
  languageId: string;
}

export interface LspSettings {
  /** Language servers for sessions in trusted folders. Without it, there are none. */
  lsp?: {
    servers: readonly ConfiguredServer[];
    /** How long a server runs after its last use. */
    idleMs: number;
    /** How long an edit may be held up by the search for its errors; default: 5 s. */
    editMs?: number;
  };
}
