export interface SpareSettings {
  /** Claude Code processes that are started ahead of their sessions; without it, there are none. */
  spareProcesses?: {
    /** At most so many at once. */
    count: number;
    /** How long one is kept after the last turn of a session like it. */
    keepMs: number;
  };
}
