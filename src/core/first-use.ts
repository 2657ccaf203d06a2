/** Creates a value once, when it is first needed. After a failure, the next use tries again. */
export function createOnFirstUse<T>(create: () => Promise<T>) {
  let current: T | null = null;
  let pending: Promise<T> | null = null;
  return {
    /** The value; null until it is created. */
    get current() {
      return current;
    },
    /** The value that is, or is being, created; null before the first use. */
    get pending() {
      return pending;
    },
    get: () =>
      (pending ??= create().then(
        (value) => (current = value),
        (error: unknown) => {
          pending = null;
          throw error;
        },
      )),
  };
}
