import type { Model } from "@tandem/sessions";

/** Models come and go by the week. */
const FRESH_MS = 10 * 60_000;
/** A list that could not be had is asked for again, but not with every request. */
const RETRY_MS = 30_000;

/**
 * The models that agents may name: asked for when first needed, and again when the list has grown old. Where Claude Code
 * cannot say, the last list holds, or the fallback.
 */
export function offeredModels(parts: {
  ask: () => Promise<Model[]>;
  fallback: () => Promise<Model[]>;
  onFailure: (error: unknown) => void;
  now?: () => number;
}): () => Promise<Model[]> {
  const { ask, fallback, onFailure, now = Date.now } = parts;
  let known: Model[] | undefined;
  let until = 0;
  let asking: Promise<Model[]> | undefined;
  const refresh = async (): Promise<Model[]> => {
    try {
      known = await ask();
      until = now() + FRESH_MS;
    } catch (error) {
      onFailure(error);
      known ??= await fallback();
      until = now() + RETRY_MS;
    } finally {
      asking = undefined;
    }
    return known;
  };
  return async () => (known && now() < until ? known : (asking ??= refresh()));
}
