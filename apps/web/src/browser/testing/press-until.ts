import type { Page } from "playwright-core";
import { expect } from "vitest";

/**
 * Presses a key, or keys one after the other, again until it has happened. The page forgets the first key of a sequence when
 * a busy machine sends the second one too late, and a new card ignores keys for a moment.
 */
export const pressUntil = async (
  page: Page,
  keys: string | readonly string[],
  happened: () => Promise<boolean>,
): Promise<void> => {
  const press = async (): Promise<false> => {
    for (const key of [keys].flat()) await page.keyboard.press(key);
    return false;
  };
  await expect.poll(async () => (await happened()) || press()).toBe(true);
};
