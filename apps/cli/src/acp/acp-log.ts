import { loadAcp } from "@tandem/tandem/compose";

/** Writes log lines with credentials redacted, like the server's log. */
export const acpLog =
  (write: (line: string) => void) =>
  async (details: Record<string, unknown>, message: string): Promise<void> => {
    const line = JSON.stringify({ time: new Date().toISOString(), message, ...details });
    // The redaction is imported with the agent, so that logging does not slow the start.
    const { redactLine } = await loadAcp();
    write(`${redactLine(line)}\n`);
  };
