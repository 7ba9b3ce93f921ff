/** The value of a promise, or undefined once the deadline has passed. */
export async function within<T>(promise: Promise<T>, deadlineMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), deadlineMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
