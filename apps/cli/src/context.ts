import type { Host } from "@tandem/tandem";

/** What every command gets: the world outside, and the options that all commands share. */
export interface Context extends Host {
  /** From now on, the command may take so long to stop once the signal has fired; then the process ends regardless. */
  allowToStop: (graceMs: number) => void;
  json: boolean;
  debug: boolean;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}
