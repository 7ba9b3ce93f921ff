import type { Model } from "@tandem/sessions";

/** Models come and go by the week. */
const FRESH_MS = 10 * 60_000;
/** A list that could not be had is asked for again, but not with every request. */
const RETRY_MS = 30_000;

/**
 * The models that agents may name: asked for when first needed, and again when the list has grown old. Where Claude Code
 * cannot say, the last list holds, or the aliases that every release has had.
 */
export function offeredModels(
  ask: () => Promise<Model[]>,
  onFailure: (error: unknown) => void,
  now: () => number = Date.now,
): () => Promise<Model[]> {
  let known: Model[] = FALLBACK;
  let until = 0;
  let asking: Promise<Model[]> | undefined;
  const refresh = async (): Promise<Model[]> => {
    try {
      known = await ask();
      until = now() + FRESH_MS;
    } catch (error) {
      until = now() + RETRY_MS;
      onFailure(error);
    } finally {
      asking = undefined;
    }
    return known;
  };
  return async () => (now() < until ? known : (asking ??= refresh()));
}

const FALLBACK: Model[] = [
  { id: "sonnet", name: "Sonnet", aliases: [] },
  { id: "opus", name: "Opus", aliases: [] },
  { id: "haiku", name: "Haiku", aliases: [] },
];
