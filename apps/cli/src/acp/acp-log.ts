import { loadAcp } from "@tandem/tandem/compose";

/** Lines of a log for who looks after what went wrong; credentials are taken out, as from the server's own. */
export const acpLog =
  (write: (line: string) => void) =>
  async (details: Record<string, unknown>, message: string): Promise<void> => {
    const line = JSON.stringify({ time: new Date().toISOString(), message, ...details });
    // What knows the look of credentials comes with the agent: a log is not worth a slower start.
    const { redact } = await loadAcp();
    write(`${redact(line)}\n`);
  };
