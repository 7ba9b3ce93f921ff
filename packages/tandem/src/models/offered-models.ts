import type { Model } from "@tandem/sessions";

/** Models change weekly. */
const FRESH_MS = 10 * 60_000;
/** Retry delay after a failure, so that not every request retries. */
const RETRY_MS = 30_000;

/**
 * The models for agents, fetched on first use and refreshed when stale. A command does not start Claude Code for a list that
 * another one fetched minutes ago. If Claude Code fails to answer, keeps the last list, else uses the fallback.
 */
export function offeredModels(parts: {
  ask: () => Promise<Model[]>;
  /** The list that another engine fetched. */
  kept?: () => Promise<{ at: number; models: Model[] } | undefined>;
  fallback: () => Promise<Model[]>;
  onFailure: (error: unknown) => void;
  now?: () => number;
}): () => Promise<Model[]> {
  const { ask, kept, fallback, onFailure, now = Date.now } = parts;
  let known: Model[] | undefined;
  let until = 0;
  let asking: Promise<Model[]> | undefined;
  const refresh = async (): Promise<Model[]> => {
    try {
      const found = known ? undefined : await kept?.();
      const isFresh = found !== undefined && found.at <= now() && now() < found.at + FRESH_MS;
      known = isFresh ? found.models : await ask();
      until = isFresh ? found.at + FRESH_MS : now() + FRESH_MS;
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
