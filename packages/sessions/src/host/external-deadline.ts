/**
 * A deadline in real time, for an answer of another program or server: a test that advances the engine's clock does not make
 * them slow. A function, so that no other code of this package needs `AbortSignal.timeout` (`scripts/topology.test.ts`).
 */
export const externalDeadline = (ms: number): AbortSignal => AbortSignal.timeout(ms);
