import type { Host } from "@tandem/tandem";

/** One run of a command: the process, the terminal, and the options that all commands share. */
export interface Invocation extends Host {
  /** From now on, the command may take so long to stop once the signal has fired; then the process ends regardless. */
  allowToStop: (graceMs: number) => void;
  json: boolean;
  debug: boolean;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}
