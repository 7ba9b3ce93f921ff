/** A value of one round. CPU says more than the clock if other programs use the machine. */
export interface Sample {
  value: number;
  /** User and system time of all processes involved. */
  cpuSeconds?: number;
}

/** A bare call of the same round: the unit of most targets. */
export interface BareSample extends Sample {
  /** Until the process has exited. `value` is the time until its first message. */
  wholeMs: number;
}

export const timed = async <Result>(work: () => Promise<Result>): Promise<Sample & { result: Result }> => {
  const from = performance.now();
  const result = await work();
  return { value: performance.now() - from, result };
};
