import type { Emulator } from "./emulator.ts";
import { startEmulator, type EmulatorOptions } from "./start-emulator.ts";

/**
 * A fixture for vitest: `const test = base.extend({ emulator: emulatorFixture() })`. Every test gets its own emulator, which
 * ends with the test.
 */
export const emulatorFixture =
  (options: EmulatorOptions = {}) =>
  // vitest reads the names of other fixtures from this pattern.
  // oxlint-disable-next-line no-empty-pattern
  async ({}: object, use: (emulator: Emulator) => Promise<void>): Promise<void> => {
    await using emulator = await startEmulator(options);
    await use(emulator);
  };

/** For node:test: an emulator that ends with the test, whose context this is. */
export async function useEmulator(
  test: { after(end: () => Promise<void>): void },
  options: EmulatorOptions = {},
): Promise<Emulator> {
  const emulator = await startEmulator(options);
  test.after(() => emulator.close());
  return emulator;
}
